import { STATE_ORDER, TASK_LOOK } from '../look/state';

/** Shares of the states in one bar, in their colours; what there is of a state is never thinner than can be seen. */
export function StackBar({ states, height = 6 }: { states: Readonly<Record<string, number>>; height?: number }) {
  const parts = STATE_ORDER.map((state) => ({ state, n: states[state] ?? 0 })).filter(({ n }) => n > 0);
  const total = parts.reduce((sum, { n }) => sum + n, 0);
  const widths = parts.map(({ n }) => Math.max(2, (n / Math.max(1, total)) * 100));
  const scale =
    100 /
    Math.max(
      1,
      widths.reduce((sum, width) => sum + width, 0),
    );
  let x = 0;
  return (
    <svg
      viewBox={`0 0 100 ${height}`}
      preserveAspectRatio="none"
      width="100%"
      height={height}
      aria-hidden
      className="bg-line2 block overflow-hidden rounded-full"
    >
      {parts.map(({ state }, index) => {
        const width = (widths[index] ?? 0) * scale;
        const from = x;
        x += width;
        return (
          <rect
            key={state}
            x={from}
            width={Math.max(0, width - 0.4)}
            height={height}
            className={TASK_LOOK[state].fill}
          />
        );
      })}
    </svg>
  );
}
