import { boardKo } from './board.ko';
import { bulkKo } from './bulk.ko';
import type { MessageKey } from './en';
import { frameKo } from './frame.ko';
import { graphKo } from './graph.ko';
import { historyKo } from './history.ko';
import { listKo } from './list.ko';
import { operateKo } from './operate.ko';
import { pagesKo } from './pages.ko';
import { taskKo } from './task.ko';
import { templateKo } from './template.ko';
import { timeKo } from './time.ko';

export const ko: Readonly<Record<MessageKey, string>> = {
  ...frameKo,
  ...boardKo,
  ...bulkKo,
  ...listKo,
  ...graphKo,
  ...taskKo,
  ...pagesKo,
  ...operateKo,
  ...templateKo,
  ...timeKo,
  ...historyKo,
};
