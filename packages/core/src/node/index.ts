export { SchedulerNode, startNode, type NodeOptions } from './node.js';
