import { LeaseholdError } from '@leasehold/core/model';
import type { EnvironmentTone } from '@leasehold/wire';
import type { Kv } from '@leasehold/core/kv';
import { silentLogger, systemClock, type Clock, type Logger } from '@leasehold/core';
import { resolveAccess, type AccessOptions, type ResolvedAccess } from './auth/options.js';
import { localOperator, type Auth } from './guard/identity.js';
import { isLoopbackAddress } from './guard/origin.js';
import type { Caps } from './projection/kept.js';

export interface GatewayOptions {
  readonly kv: Kv;
  /** Default `default`. */
  readonly namespace?: string;
  /** How people sign in. Default: nobody has to, and only loopback addresses are served. */
  readonly access?: AccessOptions;
  /** For those who come without any of it. Default: whoever reaches a loopback address is the operator. */
  readonly auth?: Auth;
  /** Serve addresses other than loopback without a login, as behind a port that is published on loopback only. Default false. */
  readonly exposeWithoutAuth?: boolean;
  /** Host names (or host:port) served besides loopback names. */
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  /** Where the application hangs: `/ops/x`; no slash at the end. Default: the root. */
  readonly basePath?: string;
  /** Shown in the frame. Default `local`. */
  readonly environment?: string;
  /** Colour of the band over every page. Default: by the environment's name. */
  readonly environmentTone?: EnvironmentTone;
  readonly version?: string;
  /** Nothing may be changed. Default false. */
  readonly readOnly?: boolean;
  readonly caps?: Partial<Caps>;
  readonly storageSoftLimitBytes?: number;
  /** Default 1 MiB. */
  readonly bodyLimitBytes?: number;
  readonly maxSockets?: number;
  /** A rest between two chunks of a bulk, ms, so that workers and viewers get their turn. Default 0. */
  readonly bulkPaceMs?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Ask a silent watch for progress after so long, ms. */
  readonly quietMs?: number;
}

export type ResolvedOptions = GatewayOptions &
  Required<
    Omit<
      GatewayOptions,
      'caps' | 'storageSoftLimitBytes' | 'environmentTone' | 'quietMs' | 'bulkPaceMs' | 'kv' | 'access'
    >
  > & {
    readonly access: ResolvedAccess;
  };

/** @throws LeaseholdError `invalid`, naming the field. */
export function resolveOptions(given: GatewayOptions): ResolvedOptions {
  const resolved: ResolvedOptions = {
    namespace: 'default',
    auth: localOperator,
    exposeWithoutAuth: false,
    allowedHosts: [],
    allowedOrigins: [],
    basePath: '',
    environment: 'local',
    version: '0.1.0',
    readOnly: false,
    bodyLimitBytes: 1_048_576,
    maxSockets: 500,
    clock: systemClock,
    logger: silentLogger,
    ...given,
    access: resolveAccess(given.access),
  };
  const { basePath, bodyLimitBytes } = resolved;
  if (basePath !== '' && !/^(?:\/[A-Za-z0-9._~-]+)+$/.test(basePath)) {
    throw new LeaseholdError('invalid', `basePath: "${basePath}" is not a path like /ops/x`, { field: 'basePath' });
  }
  if (!Number.isInteger(bodyLimitBytes) || bodyLimitBytes < 1_024 || bodyLimitBytes > 1_400_000) {
    throw new LeaseholdError('invalid', 'bodyLimitBytes: give 1024 to 1400000; etcd takes 1.5 MiB', {
      field: 'bodyLimitBytes',
    });
  }
  return Object.freeze(resolved);
}

/**
 * An open board is a shell on the fleet: without a login only loopback addresses are listened on, unless the operator says
 * otherwise in so many words.
 * @throws LeaseholdError `invalid`, saying what to do.
 */
export function requireSafeBind(
  address: string | undefined,
  options: Pick<GatewayOptions, 'auth' | 'access' | 'exposeWithoutAuth'>,
): void {
  const { auth = localOperator, exposeWithoutAuth = false } = options;
  if (auth.required || resolveAccess(options.access).required || exposeWithoutAuth || isLoopbackAddress(address))
    return;
  throw new LeaseholdError(
    'invalid',
    `host: ${address ?? 'every address'} can be reached from outside and nobody has to sign in; listen on 127.0.0.1, set up a login, or set exposeWithoutAuth`,
    { field: 'host', value: address ?? '' },
  );
}
