import type { TaskContext } from '@leasehold/core';

/** What a handler here needs of the attempt it runs in. A worker gives its task context, a test an object of its own. */
export type Work = Pick<TaskContext, 'id' | 'signal' | 'log' | 'progress'>;
