/** One HTTP request, bounded in time and size. */
import { PageTooLargeError } from './errors.js';

export const USER_AGENT = 'LeaseholdCrawler/0.1 (example worker of Leasehold; reads robots.txt)';
/** The name by which robots.txt addresses us. */
export const ROBOT_NAME = 'LeaseholdCrawler';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly location: string | null;
  readonly body: string;
  readonly bytes: number;
}

export interface ReadLimits {
  readonly bytes: number;
  readonly timeMs: number;
}

/** Redirects are handed back, not followed: where they lead has to be allowed as well. */
export async function read(url: URL, limits: ReadLimits, signal: AbortSignal): Promise<Answer> {
  const response = await fetch(url, {
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(limits.timeMs)]),
    headers: { 'user-agent': USER_AGENT, accept: 'text/html,text/plain;q=0.9' },
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length;
    // Leaving the loop cancels the body, and with it the transfer.
    if (bytes > limits.bytes) throw new PageTooLargeError(url, limits.bytes);
    chunks.push(chunk as Uint8Array);
  }
  return {
    status: response.status,
    type: (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '',
    location: response.headers.get('location'),
    body: Buffer.concat(chunks).toString('utf8'),
    bytes,
  };
}
