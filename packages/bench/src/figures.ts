/** Figures: how they are gathered over rounds, summed up, and shown. Pure but for the printing. */
export interface Figure {
  readonly bench: string;
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  /** The metric that this one is put in proportion to, and the proportion. */
  readonly ratioTo?: string;
  readonly ratio?: number;
  readonly conditions: Conditions;
}

export type Conditions = Readonly<Record<string, string | number | boolean>>;

/** What one round of one variant measured. */
export type Readings = Readonly<Record<string, number>>;

export interface Variant {
  readonly name: string;
  /** Measures once. Everything it starts, it ends. */
  readonly run: (round: number) => Promise<Readings>;
}

export type Progress = (message: string) => void;

/**
 * Runs all variants once, then all of them again: a machine that gets slower (or busier) meanwhile does it to all. Gives
 * the median of each reading by `<variant> <reading>`.
 */
export async function medianOfRounds(
  variants: readonly Variant[],
  rounds: number,
  progress: Progress,
): Promise<ReadonlyMap<string, number>> {
  const all = new Map<string, number[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const { name, run } of variants) {
      const readings = await run(round);
      progress(`round ${round}/${rounds}, ${name}: ${describe(readings)}`);
      for (const [reading, value] of Object.entries(readings)) {
        const key = metricName(name, reading);
        all.set(key, [...(all.get(key) ?? []), value]);
      }
    }
  }
  return new Map([...all].map(([metric, values]) => [metric, median(values)]));
}

export function metricName(variant: string, reading: string): string {
  return reading === '' ? variant : `${variant}, ${reading}`;
}

function describe(readings: Readings): string {
  return Object.entries(readings)
    .map(([name, value]) => `${name === '' ? '' : `${name} `}${formatNumber(value)}`)
    .join(', ');
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** By linear interpolation between the two nearest. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)] ?? 0, sorted[Math.ceil(at)] ?? 0];
  return low + (high - low) * (at - Math.floor(at));
}

export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const [whole = '', fraction] = value.toFixed(digits).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ' ');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** A table for people, one block a benchmark, with what holds for all of its figures above it. */
export function table(figures: readonly Figure[]): string {
  return [...groupByBench(figures)].map(([bench, own]) => block(bench, own)).join('\n');
}

function groupByBench(figures: readonly Figure[]): Map<string, Figure[]> {
  const blocks = new Map<string, Figure[]>();
  for (const figure of figures) blocks.set(figure.bench, [...(blocks.get(figure.bench) ?? []), figure]);
  return blocks;
}

function block(bench: string, figures: readonly Figure[]): string {
  const shared = Object.entries(figures[0]?.conditions ?? {}).filter(([name, value]) =>
    figures.every(({ conditions }) => conditions[name] === value),
  );
  const rows = figures.map((figure) => [
    figure.metric,
    formatNumber(figure.value),
    figure.unit,
    figure.ratio === undefined ? '' : `${figure.ratio.toFixed(2)}x ${figure.ratioTo ?? ''}`,
  ]);
  const width = (column: number): number => Math.max(...rows.map((row) => (row[column] ?? '').length));
  const lines = rows.map(([metric = '', value = '', unit = '', ratio = '']) =>
    `  ${metric.padEnd(width(0))}  ${value.padStart(width(1))} ${unit.padEnd(width(2))}  ${ratio}`.trimEnd(),
  );
  const conditions = shared.map(([name, value]) => `${name}: ${value}`).join('; ');
  return [bench, `  ${conditions}`, ...lines, ''].join('\n');
}
