export * from './tasks.js';
export * as handlers from './handlers.js';
export * from './errors.js';
export { openShop, type Shop } from './shop.js';
export { ordersHandlers } from './serve.js';
export type { Work } from './work.js';
