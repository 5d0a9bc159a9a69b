import type { graphEn } from './graph.en';

export const graphKo: Readonly<Record<keyof typeof graphEn, string>> = {
  'graph.label': '워크플로 그래프, 노드 {n}개',
  'graph.help': '화살표 키로 연결을 따라가고 Enter로 작업을 엽니다. 아래 구성원 목록에 모두 있습니다.',
  'graph.planned': '예정',
  'graph.doneOf': '{count}개 중 {done}개 완료',
  'graph.failed': '실패 {n}개',
  'gantt.title': '실행 시각',
  'gantt.whole': '모두 {span}',
  'gantt.waiting': '{span}째 대기',
  'gantt.ran': '대기 {wait}, 실행 {run}',
};
