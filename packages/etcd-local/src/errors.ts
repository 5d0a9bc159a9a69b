/** One way of getting an etcd that was tried, and why it gave none. */
export interface Attempt {
  readonly way: string;
  readonly reason: string;
}

export type EtcdErrorCode =
  | 'ETCD_NOT_FOUND'
  | 'ETCD_OVERRIDE_UNUSABLE'
  | 'ETCD_START_FAILED'
  | 'ETCD_UNHEALTHY'
  | 'ETCD_DATA_IN_USE'
  | 'ETCD_DATA_NEWER'
  | 'ETCD_BAD_OPTION';

/** Every failure of this package. `code` is what a caller decides on; the message is for people. */
export class EtcdLocalError extends Error {
  readonly code: EtcdErrorCode;
  /** The ways tried, for ETCD_NOT_FOUND; empty otherwise. */
  readonly attempts: readonly Attempt[];

  constructor(
    code: EtcdErrorCode,
    message: string,
    options: { readonly attempts?: readonly Attempt[]; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'EtcdLocalError';
    this.code = code;
    this.attempts = options.attempts ?? [];
  }
}

/** The failure that a person reads when there is no etcd: all that was tried, then what to do. */
export function notFound(prefer: string | undefined, attempts: readonly Attempt[]): EtcdLocalError {
  const wanted = prefer === undefined ? 'etcd' : `etcd ${prefer}`;
  const tried = attempts.map(({ way, reason }) => `  - ${way}: ${reason}`);
  const message = [
    `Could not find or fetch ${wanted}. Tried, in this order:`,
    ...tried,
    'What to do, any one of these:',
    '  - install etcd 3.4 or newer with your package manager (apt install etcd-server etcd-client; brew install etcd)',
    '  - set LEASEHOLD_ETCD to the path of an etcd binary',
    '  - set LEASEHOLD_ETCD_SHA256 (see above) so that the official release can be verified and used',
    '  - point Leasehold at an etcd that already runs elsewhere, by its endpoints',
  ].join('\n');
  return new EtcdLocalError('ETCD_NOT_FOUND', message, { attempts });
}

/** The text of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
