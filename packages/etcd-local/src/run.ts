import { spawn } from 'node:child_process';

export interface RunOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface RunResult {
  /** Exit code; undefined when it could not be started, was killed or timed out. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Undefined when the command succeeded; else one line that says what went wrong. */
  readonly failure: string | undefined;
}

/** Runs a command to its end. Never throws: a command that is missing or hangs is an outcome like any other. */
export function run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  return new Promise((resolve) => {
    let stdout = '';
    let stderr = '';
    let timedOut = false;
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, options.timeoutMs);
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', (error) => {
      clearTimeout(timer);
      resolve({ code: undefined, stdout, stderr, failure: `cannot run ${command}: ${error.message}` });
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve({
        code: code ?? undefined,
        stdout,
        stderr,
        failure: describe(command, { code, signal, timedOut, timeoutMs: options.timeoutMs, stderr }),
      });
    });
  });
}

interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  readonly timeoutMs: number;
  readonly stderr: string;
}

function describe(command: string, ending: Ending): string | undefined {
  if (ending.timedOut) return `${command} took longer than ${ending.timeoutMs / 1000} s`;
  if (ending.code === 0) return undefined;
  const how = ending.signal === null ? `exited with ${ending.code}` : `was killed by ${ending.signal}`;
  const detail = lastLines(ending.stderr, 3);
  return `${command} ${how}${detail === '' ? '' : `: ${detail}`}`;
}

/** The last non-empty lines of a text, on one line. */
export function lastLines(text: string, count: number): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-count)
    .join(' | ');
}
