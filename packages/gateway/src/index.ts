/** REST API, socket and the board's projection. */
export { createGateway, type Gateway } from './gateway.js';
export { requireSafeBind, type GatewayOptions } from './options.js';
export {
  localOperator,
  PERMISSIONS,
  type Auth,
  type Credentials,
  type Identity,
  type Permission,
} from './guard/identity.js';
export type { Refusal } from './guard/origin.js';
export { ROUTES } from './rest/app.js';
export type { Board } from './projection/board.js';
export type { Clock, Logger } from '@leasehold/core';
