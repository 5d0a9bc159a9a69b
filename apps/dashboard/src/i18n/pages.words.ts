/** Words of the other pages: triage, detail, forms, builder, locks, nodes, queues. */
export const pagesEn = {
  'builder.addStep': 'Add a step',
  'builder.duplicate': 'Duplicate',
  'builder.remove': 'Remove',
  'builder.undo': 'Undo',
} as const;

export const pagesKo: Readonly<Record<keyof typeof pagesEn, string>> = {
  'builder.addStep': '단계 추가',
  'builder.duplicate': '복제',
  'builder.remove': '제거',
  'builder.undo': '실행 취소',
};
