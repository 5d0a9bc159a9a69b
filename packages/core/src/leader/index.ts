/** The leader's election and duties. */
export { Election, type ElectionOptions, type ElectionSession } from './election.js';
export { Leader, type LeaderOptions } from './leader.js';
export type { RepairerOptions } from './repairer.js';
export type { RescuerOptions } from './rescuer.js';
