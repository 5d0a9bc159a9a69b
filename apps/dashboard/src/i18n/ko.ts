import { boardKo } from './board.words';
import type { MessageKey } from './en';
import { frameKo } from './frame.words';
import { pagesKo } from './pages.words';
import { taskKo } from './task.words';

export const ko: Readonly<Record<MessageKey, string>> = { ...frameKo, ...boardKo, ...taskKo, ...pagesKo };
