import type { templateEn } from './template.en';

export const templateKo: Readonly<Record<keyof typeof templateEn, string>> = {
  'template.tab': '템플릿',
  'template.note': 'etcd에 저장되어 여기서 워크플로를 만드는 모두가 사용합니다.',
  'template.none': '저장된 것이 없습니다.',
  'template.saved': '저장된 워크플로',
  'template.load': '불러오기',
  'template.loadFilled': '이 값으로 불러오기',
  'template.loadHoles': '편집하려고 불러오기',
  'template.export': 'JSON으로 복사',
  'template.delete': '삭제',
  'template.deleteTitle': '템플릿 {title} 삭제',
  'template.deleteText': '이 템플릿으로 이미 제출한 것은 계속됩니다.',
  'template.deletedToast': '템플릿 {title}을(를) 삭제했습니다',
  'template.title': '지금 만든 것을 저장할 이름',
  'template.holes': '이중 중괄호로 감싼 이름(예: customer)을 인수로 쓰면 매개변수가 되어 불러올 때 값을 묻습니다.',
  'template.replaces': '같은 이름의 템플릿이 있어 덮어씁니다.',
  'template.save': '템플릿 저장',
  'template.savedToast': '템플릿 {title}을(를) 저장했습니다',
  'template.typescript': 'TypeScript로 복사',
  'template.hole': '{arg}은(는) 매개변수 {name}입니다. 값을 넣어 템플릿을 불러오거나 여기에 값을 입력하세요.',
};
