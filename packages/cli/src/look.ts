import type { TaskState } from '@leasehold/core';
import type { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** One colour for a state, everywhere; the word is always there too. */
const STYLES: Readonly<Record<TaskState, Style>> = {
  WAITING: 'gray',
  SCHEDULED: 'blueBright',
  PENDING: 'blue',
  STARTED: 'green',
  RETRY: 'yellow',
  SUCCESS: 'cyan',
  FAILURE: 'red',
  CANCELLED: 'magenta',
};

export function styleOf(state: TaskState): Style {
  return STYLES[state];
}
