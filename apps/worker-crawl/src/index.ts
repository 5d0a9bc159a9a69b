export * from './tasks.js';
export * from './errors.js';
export { Crawler, type CrawlerOptions } from './crawl.js';
export { LOOPBACK, readAllowed, type AllowedHosts } from './allowed.js';
export { startDemoSite, type DemoSite } from './demo-site.js';
export { crawlHandlers } from './serve.js';
export type { Work } from './work.js';
