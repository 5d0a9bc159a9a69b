import type { GatewayOptions } from '@leasehold/gateway';

type Logger = NonNullable<GatewayOptions['logger']>;

function plain(_key: string, value: unknown): unknown {
  if (value instanceof Error) return value.message;
  return typeof value === 'bigint' ? value.toString() : value;
}

const line = (message: string, fields: unknown): string =>
  fields === undefined ? message : `${message} ${JSON.stringify(fields, plain)}`;

/** One line a message, on the terminal or in the journal. */
export const consoleLogger: Logger = {
  debug: () => undefined,
  info: (message, fields) => console.log(line(message, fields)),
  warn: (message, fields) => console.warn(line(message, fields)),
  error: (message, fields) => console.error(line(message, fields)),
  child: () => consoleLogger,
};
