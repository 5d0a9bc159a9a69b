/** What the scheduler says about itself. Any logger with these four verbs fits; fields are plain data. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to all it says. */
  child(fields: LogFields): Logger;
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

const nothing = (): void => undefined;
export const silentLogger: Logger = Object.freeze({
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
});

export interface JsonLoggerOptions {
  readonly level?: LogLevel;
  readonly fields?: LogFields;
  readonly now?: () => number;
  /** Takes one line without its end. Default: standard error. */
  readonly write?: (line: string) => void;
}

/** One JSON object a line: `time`, `level`, `message`, then the fields. */
export function jsonLogger(options: JsonLoggerOptions = {}): Logger {
  const { level = 'info', fields = {}, now = Date.now } = options;
  const write = options.write ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const say = (at: LogLevel) => (message: string, more?: LogFields) => {
    if (LEVELS.indexOf(at) < LEVELS.indexOf(level)) return;
    write(toLine({ time: new Date(now()).toISOString(), level: at, message, ...fields, ...more }));
  };
  return {
    debug: say('debug'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    child: (more) => jsonLogger({ ...options, fields: { ...fields, ...more } }),
  };
}

function toLine(entry: LogFields): string {
  try {
    return JSON.stringify(entry, plain);
  } catch {
    return JSON.stringify({ time: entry['time'], level: entry['level'], message: entry['message'], unreadable: true });
  }
}

/** What JSON has no form for: 64-bit integers as digits, errors as their name, code and message. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (!(value instanceof Error)) return value;
  const code = 'code' in value ? { code: value.code } : {};
  const cause = value.cause === undefined ? {} : { cause: value.cause };
  return { name: value.name, ...code, message: value.message, ...cause };
}
