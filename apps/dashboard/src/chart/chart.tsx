'use client';
/**
 * uPlot in our colours and our times. It draws on a canvas, so colours are read from the page's own variables, and again
 * when the theme changes. Axis labels come from the one formatter; whoever shows a chart prints the zone beside it.
 */
import 'uplot/dist/uPlot.min.css';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import uPlot, { type AlignedData, type Options, type Series } from 'uplot';
import { useTime, type TimeFormat } from '../time';

export type Tone =
  'waiting' | 'scheduled' | 'pending' | 'started' | 'retry' | 'success' | 'failure' | 'cancelled' | 'ink3' | 'accent';

export interface Line {
  readonly label: string;
  readonly tone: Tone;
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  /** Epoch ms of each point, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly kind: 'bars' | 'lines';
  readonly height: number;
  /** For axis and pointer. */
  readonly show?: (value: number) => string;
  readonly axis?: boolean;
  /** Shown as chosen, epoch ms. */
  readonly chosen?: readonly [fromMs: number, toMs: number] | undefined;
  /** Told what was dragged over, epoch ms. */
  readonly onBrush?: ((fromMs: number, toMs: number) => void) | undefined;
}

const CLOCK_SPAN_MS = 5 * 60_000;
const DAY_MS = 86_400_000;

function axisText(time: TimeFormat, spanMs: number): (ms: number) => string {
  if (spanMs < CLOCK_SPAN_MS) return time.clock;
  if (spanMs < DAY_MS) return time.minute;
  return (ms) => time.short(ms).replace(/[, ]*\d{2}:\d{2}:\d{2}$/, '');
}

/** The theme that is in force, so that a change draws again. */
function useTheme(): string {
  const [theme, setTheme] = useState('');
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const read = (): void => setTheme(`${document.documentElement.dataset['theme'] ?? ''} ${dark.matches}`);
    const observer = new MutationObserver(read);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    dark.addEventListener('change', read);
    read();
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', read);
    };
  }, []);
  return theme;
}

/** `light-dark()` cannot be drawn with: the browser says what it comes to. */
function colourOf(element: Element, tone: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(--${tone})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** The upper edges of stacked lines, the last line on top; uPlot draws each behind the ones before. */
function stacked(lines: readonly Line[]): (number | null)[][] {
  const sums = Array.from({ length: lines[0]?.values.length ?? 0 }, () => 0);
  return lines.map(({ values }) => values.map((value, i) => (sums[i] = (sums[i] ?? 0) + (value ?? 0))));
}

function seriesOf(element: Element, { lines, kind }: Pick<ChartProps, 'lines' | 'kind'>): Series[] {
  const bars = uPlot.paths.bars?.({ size: [0.8, 24], gap: 1 });
  const drawn = kind === 'bars' ? [...lines].reverse() : lines;
  return drawn.map(({ label, tone }) => {
    const colour = colourOf(element, tone);
    return kind === 'bars' && bars !== undefined
      ? { label, fill: colour, width: 0, paths: bars, points: { show: false } }
      : { label, stroke: colour, width: 1.5, points: { show: false } };
  });
}

function dataOf({ times, lines, kind }: Pick<ChartProps, 'times' | 'lines' | 'kind'>): AlignedData {
  const values = kind === 'bars' ? stacked(lines).reverse() : lines.map((line) => [...line.values]);
  return [times.map((ms) => ms / 1_000), ...values];
}

export function Chart(props: ChartProps) {
  const { times, lines, kind, height, axis = true, chosen, show } = props;
  const time = useTime();
  const theme = useTheme();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  const shape = lines.map(({ label, tone }) => `${label} ${tone}`).join();
  const brushes = props.onBrush !== undefined;
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const ink = colourOf(element, 'ink3');
    const line = colourOf(element, 'line');
    const text = (u: uPlot, splits: number[]): string[] => {
      const span = ((u.scales['x']?.max ?? 0) - (u.scales['x']?.min ?? 0)) * 1_000;
      const format = axisText(time, span);
      return splits.map((at) => format(at * 1_000));
    };
    const font = `11px ${getComputedStyle(element).fontFamily}`;
    const options: Options = {
      width: Math.max(40, element.clientWidth),
      height,
      padding: [4, axis ? 8 : 0, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: brushes, y: false, setScale: false } },
      scales: {
        x: { time: true },
        y: { range: (_u, _min, max) => [0, Math.max(1, max * 1.04)] },
      },
      series: [{}, ...seriesOf(element, latest.current)],
      axes: [
        {
          show: axis,
          stroke: ink,
          font,
          size: 20,
          gap: 2,
          grid: { show: false },
          ticks: { show: false },
          values: text,
        },
        {
          show: axis,
          stroke: ink,
          font,
          size: 44,
          gap: 4,
          space: 18,
          grid: { stroke: line, width: 1 },
          ticks: { show: false },
          values: (_u, splits) => splits.map((value) => (show === undefined ? String(value) : show(value))),
        },
      ],
      hooks: {
        setSelect: [
          (u) => {
            const { onBrush } = latest.current;
            if (onBrush === undefined || u.select.width < 3) return;
            const at = (px: number): number => Math.round(u.posToVal(px, 'x') * 1_000);
            onBrush(at(u.select.left), at(u.select.left + u.select.width));
          },
        ],
      },
    };
    const made = new uPlot(options, dataOf(latest.current), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: Math.max(40, element.clientWidth), height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape, kind, height, axis, time, theme, show, brushes]);
  useLayoutEffect(() => plot.current?.setData(dataOf({ times, lines, kind })), [times, lines, kind]);
  const [from, to] = chosen ?? [];
  useLayoutEffect(() => {
    const made = plot.current;
    if (made === null) return;
    if (from === undefined || to === undefined) {
      made.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      return;
    }
    const left = Math.max(0, made.valToPos(from / 1_000, 'x'));
    const right = Math.min(made.over.clientWidth, made.valToPos(to / 1_000, 'x'));
    made.setSelect({ left, width: Math.max(2, right - left), top: 0, height: made.over.clientHeight }, false);
  }, [from, to, times, shape, theme, height]);
  return <div ref={box} aria-hidden className="chart min-w-0" style={{ height }} />;
}
