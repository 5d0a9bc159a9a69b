/** What the scripts share: the root, progress lines, running commands. No dependency: this runs before anything is installed. */
import { spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
/** Everything that we fetch or report goes here; git ignores it. */
export const ownDirectory = path.join(root, '.leasehold');

const began = performance.now();

/** One line for each phase, with the seconds since the start, so that a slow one shows. */
export function progress(message) {
  const seconds = ((performance.now() - began) / 1000).toFixed(1).padStart(6);
  process.stderr.write(`[${seconds} s] ${message}\n`);
}

/** Where our shims and the workspace's tools are, ahead of the machine's. */
function searchPath() {
  const own = [path.join(root, 'node_modules/.leasehold-bin'), path.join(root, 'node_modules/.bin')];
  return [...own, process.env.PATH ?? ''].join(path.delimiter);
}

/** npm, pnpm and browsers all write below HOME; where that is empty or read-only, they get one of ours. */
function writableHome() {
  const home = process.env.HOME ?? '';
  try {
    if (home !== '') {
      accessSync(homedir(), constants.W_OK);
      return home;
    }
  } catch {
    // Missing or read-only: fall through to our own.
  }
  const own = path.join(ownDirectory, 'home');
  mkdirSync(own, { recursive: true });
  return own;
}

/** The environment of every command: tools that work offline, quietly, and tell nobody. */
export function environment(more = {}) {
  return {
    ...process.env,
    HOME: writableHome(),
    PATH: searchPath(),
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
    NEXT_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
    npm_config_update_notifier: 'false',
    ...more,
  };
}

const running = new Set();

/** Ends everything that we started, with what it started in turn. */
function endAll(signal) {
  for (const child of running) {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // It has gone by itself meanwhile.
    }
  }
}

const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
const onSignal = (signal) => {
  endAll('SIGTERM');
  process.exit(exitCodes[signal]);
};

/** Signals are ours only while a command runs: afterwards they may belong to a program that wants to end in good order. */
function track(child) {
  if (running.size === 0) for (const signal of Object.keys(exitCodes)) process.on(signal, onSignal);
  running.add(child);
}

function untrack(child) {
  if (!running.delete(child) || running.size > 0) return;
  for (const signal of Object.keys(exitCodes)) process.off(signal, onSignal);
}

/**
 * Runs a command to its end and gives { code, output }: code is 0 only for success, output is all it wrote.
 * It gets a process group of its own, so that a hanging server that it started can be ended with it.
 */
export function capture(command, args, { env, cwd = root, timeoutMs = 0, onOutput = () => undefined } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: env ?? environment(),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const take = (text) => {
      output += text;
      onOutput(text);
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    const timer = timeoutMs > 0 ? setTimeout(() => expire(child, timeoutMs, take), timeoutMs) : undefined;
    const finish = (code) => {
      clearTimeout(timer);
      untrack(child);
      resolve({ code, output });
    };
    if (child.pid !== undefined) track(child);
    child.once('error', (error) => {
      take(`cannot run ${command}: ${error.message}\n`);
      finish(127);
    });
    child.once('exit', (code, signal) => {
      if (signal !== null) take(`\n${command} was ended by ${signal}\n`);
      // Not 'close': a grandchild that lives on would hold the pipes, and us, for ever.
      const settle = setTimeout(() => finish(code ?? 1), 500);
      child.once('close', () => {
        clearTimeout(settle);
        finish(code ?? 1);
      });
    });
  });
}

function expire(child, timeoutMs, take) {
  take(`\nended after ${timeoutMs / 60_000} minutes without coming to an end\n`);
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended in this very moment.
  }
}

/** Runs a command whose failure ends the script: its whole output is shown then. */
export async function must(what, command, args, options = {}) {
  const { code, output } = await capture(command, args, options);
  if (code === 0) return output;
  process.stderr.write(output);
  throw new Failure(
    `${what} failed (${[path.basename(command), ...args].join(' ')} exited with ${code}). Its output is above.`,
  );
}

/** A failure that is fully described by its message: no stack trace helps. */
export class Failure extends Error {}

/** Is this module the program that was started, and not one that another imports? */
export function isProgram(moduleUrl) {
  return process.argv[1] === fileURLToPath(moduleUrl);
}

/** Runs a script's main function. */
export function main(work) {
  work().catch((error) => {
    process.stderr.write(`\n${error instanceof Failure ? error.message : (error.stack ?? error)}\n`);
    process.exit(1);
  });
}
