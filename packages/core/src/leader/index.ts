/** The leader's election and duties. */
export type { ElectionSession } from './election.js';
export type { JanitorOptions } from './janitor.js';
export { Leader, type LeaderOptions } from './leader.js';
export type { RepairerOptions } from './repairer.js';
export type { RescuerOptions } from './rescuer.js';
export type { SchedulerOptions } from './scheduler.js';
