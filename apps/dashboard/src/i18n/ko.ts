import { boardKo } from './board.ko';
import type { MessageKey } from './en';
import { frameKo } from './frame.ko';
import { operateKo } from './operate.ko';
import { pagesKo } from './pages.ko';
import { taskKo } from './task.ko';

export const ko: Readonly<Record<MessageKey, string>> = { ...frameKo, ...boardKo, ...taskKo, ...pagesKo, ...operateKo };
