import type { timeEn } from './time.en';

export const timeKo: Readonly<Record<keyof typeof timeEn, string>> = {
  'queue.ordered': '커밋 순서대로',
  'queue.drain': '비우기',
  'queue.drainOf': '{name} 비우기',
  'queue.drainTitle': '{name} 큐를 비울까요?',
  'queue.drainText':
    '큐가 일시 중지되어 새 작업이 시작되지 않습니다. 실행 중인 작업은 계속되며, 여기 표시되는 수가 0까지 줄어듭니다. 이후에도 일시 중지 상태로 남습니다.',
  'queue.draining': '비우는 중: {n}건 실행 중',
  'queue.drained': '실행 중인 작업 없음',
  'queue.drainDone': '{name} 비우는 중: {n}건 실행 중',
  'queue.drainedNow': '{name} 비움: 실행 중인 작업 없음',
  'queue.rate': '{span}당 {count}건',
  'triage.stuck': '진행할 수 없는 워크플로 {n}건 (원인은 리더 로그 참조)',
  'cluster.sizeOfTold': '{quota} 중 {size}',
  'cluster.softLimit': '새 작업 거부 기준',
  'cluster.adviceDefragment': '파일은 크지만 대부분 비어 있습니다',
  'cluster.adviceDefragmentText':
    '멤버를 하나씩, 리더는 마지막에 조각 모음하세요: etcdctl defrag --endpoints=<member>. 그동안 해당 멤버는 응답하지 않습니다.',
  'cluster.adviceRoom': 'etcd 저장 공간이 차고 있습니다',
  'cluster.adviceRoomText':
    '새 작업은 거부되고 실행 중인 작업은 계속됩니다. 종료된 작업의 보존 기간을 줄이고 다음 압축을 기다린 뒤 조각 모음하거나, --quota-backend-bytes를 늘리세요.',
  'cluster.adviceAlarm': 'etcd가 경보를 발생시켰습니다',
  'cluster.adviceAlarmText':
    'NOSPACE: 공간을 확보하거나 --quota-backend-bytes를 늘리고 조각 모음한 뒤 etcdctl alarm disarm을 실행하세요. CORRUPT: 표시된 멤버를 교체하세요.',
};
