/** What commands print: text for people, one JSON value a line for programs. */
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export interface Output {
  readonly json: boolean;
  /** One value a line with --json; else `text`. Nothing when the text is empty. */
  show(value: unknown, text: string): void;
  /** A list: with --json one value a line, else a table. */
  table<T>(items: readonly T[], columns: readonly Column<T>[], empty: string): void;
  /** For people only, and on stderr: never part of the result. */
  note(text: string): void;
  paint(style: Style, text: string): string;
}

export interface Column<T> {
  readonly title: string;
  readonly text: (item: T) => string;
  readonly style?: (item: T) => Style | undefined;
  readonly right?: boolean;
}

export function makeOutput(json: boolean, stdout: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Output {
  const coloured = stdout.isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  const paint = (style: Style, text: string): string =>
    coloured ? styleText(style, text, { validateStream: false }) : text;
  return {
    json,
    paint,
    show: (value, text) => {
      if (json) stdout.write(`${toJson(value)}\n`);
      else if (text !== '') stdout.write(`${text}\n`);
    },
    table: (items, columns, empty) => {
      if (json) for (const item of items) stdout.write(`${toJson(item)}\n`);
      else stdout.write(items.length === 0 ? `${empty}\n` : `${layOut(items, columns, paint)}\n`);
    },
    note: (text) => {
      if (!json) process.stderr.write(`${text}\n`);
    },
  };
}

/** 64-bit integers keep their digits: as text, as they are stored. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === 'bigint') return part.toString();
    if (part instanceof Uint8Array) return Buffer.from(part).toString('base64');
    return part;
  });
}

function layOut<T>(items: readonly T[], columns: readonly Column<T>[], paint: Output['paint']): string {
  const rows = items.map((item) => columns.map(({ text }) => clean(text(item))));
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...rows.map((row) => width(row[at] ?? ''))));
  const cell = (text: string, at: number): string => {
    const fill = ' '.repeat(Math.max(0, (widths[at] ?? 0) - width(text)));
    return columns[at]?.right === true ? fill + text : text + fill;
  };
  const head = columns.map(({ title }, at) => paint('dim', cell(title, at))).join('  ');
  const body = rows.map((row, index) =>
    row
      .map((text, at) => {
        const style = columns[at]?.style?.(items[index] as T);
        return style === undefined ? cell(text, at) : paint(style, cell(text, at));
      })
      .join('  ')
      .trimEnd(),
  );
  return [head.trimEnd(), ...body].join('\n');
}

/** What workers and submitters wrote is data: control characters and direction marks must not reach the terminal. */
export function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => (char === '\t' ? ' ' : '·'));
}

/** Columns that a text takes: Korean, Chinese and Japanese letters take two. */
export function width(text: string): number {
  let columns = 0;
  for (const char of text) columns += /[ᄀ-ᅟ⺀-꓏가-힣豈-﫿︰-﹏＀-｠￠-￦]/u.test(char) ? 2 : 1;
  return columns;
}

export function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}

/** `3s ago`, `in 5m`: for people; JSON has the milliseconds. */
export function ago(atMs: number, nowMs: number): string {
  const seconds = Math.round(Math.abs(nowMs - atMs) / 1000);
  const text = duration(seconds);
  return atMs > nowMs ? `in ${text}` : `${text} ago`;
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h${Math.floor((seconds % 3_600) / 60)}m`;
  return `${Math.floor(seconds / 86_400)}d${Math.floor((seconds % 86_400) / 3_600)}h`;
}
