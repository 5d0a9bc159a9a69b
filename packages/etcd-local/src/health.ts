import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits until a member answers a linearizable read, which needs a leader and a quorum. Gives undefined then, else what it said last.
 * `aborted` ends the wait early: a process that has exited will not become healthy.
 */
export async function waitHealthy(
  clientUrl: string,
  deadlineMs: number,
  aborted: AbortSignal,
): Promise<string | undefined> {
  const until = performance.now() + deadlineMs;
  let last: string | undefined = 'it was never asked';
  while (performance.now() < until && !aborted.aborted) {
    last = await probe(clientUrl);
    if (last === undefined) return undefined;
    await delay(50);
  }
  return last;
}

/** Undefined when healthy, else the reason. */
function probe(clientUrl: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Without an agent, so that no idle socket of ours outlives the question or a restart of the member.
    const request = get(`${clientUrl}/health`, { agent: false, timeout: 2000 }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => (body += text));
      response.on('end', () => resolve(isHealthy(body) ? undefined : `/health answers ${body.trim()}`));
      response.on('error', (error) => resolve(error.message));
    });
    request.on('timeout', () => request.destroy(new Error('/health does not answer')));
    request.on('error', (error) => resolve(error.message));
  });
}

function isHealthy(body: string): boolean {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && 'health' in parsed && parsed.health === 'true';
  } catch {
    return false;
  }
}
