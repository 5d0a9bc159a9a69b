/** Why a page was not read. `final`: asking again gives the same answer. */
export class RefusedUrlError extends Error {
  override readonly name = 'RefusedUrlError';
  readonly final = true;
}

export class RobotsError extends Error {
  override readonly name = 'RobotsError';
  readonly final = true;

  constructor(url: URL, line: number) {
    super(`${url.origin}/robots.txt${line > 0 ? `, line ${line},` : ''} asks crawlers not to read ${url.pathname}`);
  }
}

export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError';
  readonly status: number;
  /** A page that is not there stays away; a server in trouble may recover. */
  readonly final: boolean;

  constructor(url: URL, status: number) {
    super(`${url.href} answered ${status}`);
    this.status = status;
    this.final = status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429;
  }
}

export class PageTooLargeError extends Error {
  override readonly name = 'PageTooLargeError';
  readonly final = true;

  constructor(url: URL, limit: number) {
    super(`${url.href} is larger than ${limit} bytes; the rest was not read`);
  }
}

export class NotHtmlError extends Error {
  override readonly name = 'NotHtmlError';
  readonly final = true;

  constructor(url: URL, type: string) {
    super(`${url.href} is ${type === '' ? 'of no type' : type}, not a page`);
  }
}

export class TooManyRedirectsError extends Error {
  override readonly name = 'TooManyRedirectsError';
  readonly final = true;

  constructor(url: URL, limit: number) {
    super(`${url.href}: more than ${limit} redirects`);
  }
}
