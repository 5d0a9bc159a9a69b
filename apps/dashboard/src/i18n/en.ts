import { boardEn } from './board.en';
import { bulkEn } from './bulk.en';
import { frameEn } from './frame.en';
import { graphEn } from './graph.en';
import { historyEn } from './history.en';
import { listEn } from './list.en';
import { operateEn } from './operate.en';
import { pagesEn } from './pages.en';
import { taskEn } from './task.en';
import { templateEn } from './template.en';
import { timeEn } from './time.en';
import type { Params } from './translate';

/** English is the key set: another language that lacks a key does not compile. */
export const en = {
  ...frameEn,
  ...boardEn,
  ...bulkEn,
  ...listEn,
  ...graphEn,
  ...taskEn,
  ...pagesEn,
  ...operateEn,
  ...templateEn,
  ...timeEn,
  ...historyEn,
} as const;

export type MessageKey = keyof typeof en;
export type Message<K extends MessageKey> = (typeof en)[K];

/** Keys of messages without parameters: what a table of words may hold. */
export type PlainKey = { [K in MessageKey]: [Params<Message<K>>] extends [never] ? K : never }[MessageKey];
