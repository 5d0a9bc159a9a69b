/** Words of queues that are drained or ordered, of storage, and of what the leader cannot do. */
export const timeEn = {
  'queue.ordered': 'in order of commits',
  'queue.drain': 'Drain',
  'queue.drainOf': 'Drain {name}',
  'queue.drainTitle': 'Drain queue {name}?',
  'queue.drainText':
    'The queue is paused: no further task of it starts. What runs goes on, and the count here falls to 0. It stays paused.',
  'queue.draining': 'draining: {n} still {n:runs|run}',
  'queue.drained': 'nothing runs',
  'queue.drainDone': 'Draining {name}: {n} still {n:runs|run}',
  'queue.drainedNow': '{name} is drained: nothing runs',
  'queue.rate': '{count} per {span}',
  'triage.stuck': '{n} {n:workflow|workflows} cannot go on; the leader’s log says why',
  'cluster.sizeOfTold': '{size} of {quota}',
  'cluster.softLimit': 'New work is refused from',
  'cluster.adviceDefragment': 'The file is large and mostly empty',
  'cluster.adviceDefragmentText':
    'Defragment one member after the other, the leader last: etcdctl defrag --endpoints=<member>. Each stands still meanwhile.',
  'cluster.adviceRoom': 'etcd is filling up',
  'cluster.adviceRoomText':
    'New work is refused, running work goes on. Lower the retention of ended tasks, wait for the next compaction, then defragment; or raise --quota-backend-bytes.',
  'cluster.adviceAlarm': 'etcd has raised an alarm',
  'cluster.adviceAlarmText':
    'After NOSPACE: make room or raise --quota-backend-bytes, defragment, then etcdctl alarm disarm. After CORRUPT: replace the member that is named.',
} as const;
