/** Words of a workflow's graph and of its Gantt chart. */
export const graphEn = {
  'graph.label': 'Graph of the workflow, {n} {n:node|nodes}',
  'graph.help': 'Arrow keys follow the edges, Enter opens the task. The list of members below has everything.',
  'graph.planned': 'to come',
  'graph.doneOf': '{done} of {count} done',
  'graph.failed': '{n} failed',
  'gantt.title': 'When it ran',
  'gantt.whole': '{span} in all',
  'gantt.waiting': 'waiting for {span}',
  'gantt.ran': 'waited {wait}, ran {run}',
} as const;
