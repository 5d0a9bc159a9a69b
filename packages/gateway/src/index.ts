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
export type { AccessOptions, OidcOptions, ProxyOptions } from './auth/options.js';
export { ROLES, isRole, requirePermissions, requireRole, type Role } from './auth/roles.js';
export { hashPassword } from './auth/password.js';
export { readUsers, writeUsers, type User } from './auth/users-file.js';
export { SOCKET_HANDLERS } from './live/hub.js';
export type { Refusal } from './guard/origin.js';
export { ROUTES } from './rest/app.js';
export type { Board } from './projection/board.js';
export type { Clock, Logger } from '@leasehold/core';
