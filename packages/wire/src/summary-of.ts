import type { Summary, SummarySection } from './summary.js';

export function summaryOf(rows: readonly SummarySection[]): Summary {
  return Object.fromEntries(rows.map((section) => [section.id, section]));
}
