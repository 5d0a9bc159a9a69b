/** Preloaded into the board's process: tells, when asked, what it costs. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface BoardCost {
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly rssPeakBytes: number;
  /** The longest time that the event loop did not go round, since the last asking, ms. */
  readonly blockedMs: number;
}

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
let rssPeakBytes = 0;
const timer = setInterval(() => (rssPeakBytes = Math.max(rssPeakBytes, process.memoryUsage.rss())), 50);
timer.unref();

process.on('message', (message) => {
  if (message !== 'measure') return;
  const { user, system } = process.cpuUsage();
  const rssBytes = process.memoryUsage.rss();
  process.send?.({
    cpuMs: (user + system) / 1_000,
    rssBytes,
    rssPeakBytes: Math.max(rssBytes, rssPeakBytes),
    blockedMs: delay.max / 1e6,
  } satisfies BoardCost);
  delay.reset();
  rssPeakBytes = rssBytes;
});
