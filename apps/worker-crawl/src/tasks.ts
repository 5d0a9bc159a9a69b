/** What can be asked of this worker. Import it to submit with types; it pulls in no parser. */
import { defineTask } from '@leasehold/core';

export const crawlPage = defineTask('crawlPage', {
  queue: 'crawl',
  args: {
    url: {
      type: 'string',
      help: 'A URL on an allowed host, or a path on the demo site: /, /articles/3, /old, /busy (503), /missing (404), /private/ (robots.txt), /endless',
    },
  },
  results: ['string', 'int32', 'int64'],
  description: 'Reads one page politely; gives its title, how many pages it links to, and its size',
  retry: { count: 3 },
  timeoutMs: 60_000,
});
