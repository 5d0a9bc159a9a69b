/** Everything that reads an answer: loaded with the first call, not with the page. */
export { ClusterStatus, Done, HandlerList, Problem, SubmitCheck, TaskDetail, WorkflowDetail } from '@leasehold/wire';
export { parseLossless, stringifyLossless } from './lossless';
export { newOperationId } from './operation-id';
