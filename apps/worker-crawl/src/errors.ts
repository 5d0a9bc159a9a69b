import { FinalError } from '@leasehold/core';

/** Why a page was not read. A `FinalError` is not tried again: asking again gives the same answer. */
export class RefusedUrlError extends FinalError {
  override readonly name = 'RefusedUrlError';
}

export class RobotsError extends FinalError {
  override readonly name = 'RobotsError';

  constructor(url: URL, line: number) {
    super(`${url.origin}/robots.txt${line > 0 ? `, line ${line},` : ''} asks crawlers not to read ${url.pathname}`);
  }
}

/** A page that is not there, or not for us, stays so. */
export class MissingPageError extends FinalError {
  override readonly name = 'MissingPageError';
  readonly status: number;

  constructor(url: URL, status: number) {
    super(`${url.href} answered ${status}`);
    this.status = status;
  }
}

/** A server in trouble may recover. */
export class UnwellServerError extends Error {
  override readonly name = 'UnwellServerError';
  readonly status: number;

  constructor(url: URL, status: number) {
    super(`${url.href} answered ${status}`);
    this.status = status;
  }
}

const WORTH_ANOTHER_TRY: ReadonlySet<number> = new Set([408, 425, 429]);

export function statusError(url: URL, status: number): MissingPageError | UnwellServerError {
  const stays = status >= 400 && status < 500 && !WORTH_ANOTHER_TRY.has(status);
  return stays ? new MissingPageError(url, status) : new UnwellServerError(url, status);
}

export class PageTooLargeError extends FinalError {
  override readonly name = 'PageTooLargeError';

  constructor(url: URL, limit: number) {
    super(`${url.href} is larger than ${limit} bytes; the rest was not read`);
  }
}

export class NotHtmlError extends FinalError {
  override readonly name = 'NotHtmlError';

  constructor(url: URL, type: string) {
    super(`${url.href} is ${type === '' ? 'of no type' : type}, not a page`);
  }
}

export class TooManyRedirectsError extends FinalError {
  override readonly name = 'TooManyRedirectsError';

  constructor(url: URL, limit: number) {
    super(`${url.href}: more than ${limit} redirects`);
  }
}
