/** Everything that reads an answer: loaded with the first call, not with the page. */
export {
  AuditPage,
  BulkCount,
  BulkLeftPage,
  ClusterStatus,
  Difference,
  Done,
  EventPage,
  HandlerList,
  HistorySpan,
  Moment,
  Problem,
  Revealed,
  QueueDetail,
  ScheduleDetail,
  ScheduleDone,
  SignedInOrOut,
  SubmitCheck,
  TaskDetail,
  TaskHistogram,
  TokenCreated,
  TokenList,
  WhoAmI,
  TemplateList,
  WorkflowDetail,
} from '@leasehold/wire';
export { parseLossless, stringifyLossless } from './lossless';
export { newOperationId } from './operation-id';
