import { handle, type Handling } from '@leasehold/core';
import type { Crawler } from './crawl.js';
import { crawlPage } from './tasks.js';

export function crawlHandlers(crawler: Crawler): readonly Handling[] {
  return [handle(crawlPage, (args, context) => crawler.crawlPage(args, context))];
}
