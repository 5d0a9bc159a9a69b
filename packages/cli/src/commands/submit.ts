import {
  chain,
  chord,
  group,
  LeaseholdError,
  withAdvertised,
  type Handle,
  type Part,
  type Signature,
  type Workflow,
} from '@leasehold/core';
import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { run, type CommonOptions, type Session } from '../command.js';
import { clean, toJson } from '../output.js';
import { findHandler, parseJson, parseWords, readSignature, secretsOf } from '../typed.js';

interface WaitFlags extends CommonOptions {
  readonly wait?: true | string;
  readonly id?: string;
}

interface SubmitFlags extends WaitFlags {
  readonly queue?: string;
  readonly priority?: string;
  readonly eta?: string;
  readonly retries?: string;
  readonly timeout?: string;
  readonly unique?: string;
  readonly tag?: readonly string[];
}

const DEFAULT_WAIT_S = 60;

export function addSubmit(program: Command): void {
  withWait(
    program
      .command('submit')
      .description('submit one task; arguments are typed by what live workers declare, or as type:value')
      .argument('<name>')
      .argument('[args...]')
      .option('--queue <name>')
      .option('--priority <0-9>', 'higher first')
      .option('--eta <time>', 'not before: an ISO time, or seconds from now such as +30')
      .option('--retries <n>', 'after the first attempt')
      .option('--timeout <seconds>', 'longest run of one attempt')
      .option('--unique <key>', 'refuse while another task with this key lives')
      .option('--tag <tag...>'),
  ).action((name: string, words: string[], _flags: object, command: Command) =>
    run(command.optsWithGlobals<SubmitFlags>(), (session) =>
      submitTask(session, name, words, command.optsWithGlobals<SubmitFlags>()),
    ),
  );
  for (const kind of ['chain', 'group'] as const) {
    withWait(
      program
        .command(kind)
        .description(
          kind === 'chain'
            ? 'submit a chain from a JSON file ("-" reads stdin): a list of tasks, or { "steps", "onFailure" }'
            : 'submit a group from a JSON file: a list of tasks, or { "members", "callback", "concurrency", "onFailure" }',
        )
        .argument('<file.json>'),
    ).action((file: string, _flags: object, command: Command) => {
      const flags = command.optsWithGlobals<WaitFlags>();
      return run(flags, (session) => submitFile(session, kind, file, flags));
    });
  }
}

function withWait(command: Command): Command {
  return command
    .option('--id <id>', 'makes it idempotent: the same id again is the same submission')
    .option('--wait [seconds]', `wait for the result (default ${DEFAULT_WAIT_S} s); exit 1 when it fails`);
}

async function submitTask(session: Session, name: string, words: readonly string[], flags: SubmitFlags): Promise<void> {
  const handler = findHandler(await session.client.nodes(), name);
  const args = parseWords(name, words, handler);
  const given: Signature = { ...secretsOf(handler, args.length), name, args, ...fields(flags) };
  const signature = withAdvertised(given, handler);
  await submit(session, signature, flags);
}

function fields(flags: SubmitFlags): Partial<Signature> {
  return {
    ...(flags.id === undefined ? {} : { id: flags.id }),
    ...(flags.queue === undefined ? {} : { queue: flags.queue }),
    ...(flags.priority === undefined ? {} : { priority: whole(flags.priority, '--priority') }),
    ...(flags.eta === undefined ? {} : { etaMs: readTime(flags.eta) }),
    ...(flags.retries === undefined ? {} : { retry: { count: whole(flags.retries, '--retries') } }),
    ...(flags.timeout === undefined ? {} : { timeoutMs: whole(flags.timeout, '--timeout') * 1_000 }),
    ...(flags.unique === undefined ? {} : { unique: { key: flags.unique, onConflict: 'reject' as const } }),
    ...(flags.tag === undefined ? {} : { tags: flags.tag }),
  };
}

function whole(text: string, flag: string): number {
  if (/^-?\d{1,12}$/.test(text)) return Number(text);
  throw new LeaseholdError('invalid', `${flag}: ${text} is not a whole number`, { field: flag });
}

function readTime(text: string): number {
  const relative = /^\+(\d+(?:\.\d+)?)$/.exec(text);
  const time = relative === null ? Date.parse(text) : Date.now() + Number(relative[1]) * 1_000;
  if (Number.isFinite(time)) return Math.round(time);
  throw new LeaseholdError('invalid', `--eta: ${text} is neither an ISO time nor seconds such as +30`, {
    field: 'eta',
  });
}

async function submitFile(session: Session, kind: 'chain' | 'group', file: string, flags: WaitFlags): Promise<void> {
  const given = parseJson(readFileSync(file === '-' ? 0 : file, 'utf8'), file);
  const nodes = await session.client.nodes();
  const object = typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {};
  const { steps, members, callback, ...options } = object as Record<string, unknown>;
  const list = Array.isArray(given) ? given : kind === 'chain' ? steps : members;
  if (!Array.isArray(list)) {
    const field = kind === 'chain' ? 'steps' : 'members';
    throw new LeaseholdError('invalid', `${file}: a list of tasks, or an object with "${field}"`, { field });
  }
  const parts = list.map((part: unknown, index) => readPart(part, nodes, `[${index}]`));
  // Fields that are no options, and values that are none, are refused at submission with the rest.
  if (kind === 'chain') return submit(session, chain(parts, options), flags);
  if (callback === undefined) return submit(session, group(parts, options), flags);
  return submit(session, chord(parts, readPart(callback, nodes, 'callback'), options), flags);
}

/** A workflow inside a workflow is given in full, with its `kind`. */
function readPart(given: unknown, nodes: Parameters<typeof readSignature>[1], field: string): Part {
  if (typeof given === 'object' && given !== null && 'kind' in given) return given as Workflow;
  return readSignature(given, nodes, field);
}

async function submit(session: Session, part: Part, flags: WaitFlags): Promise<void> {
  const { client, out } = session;
  const handle = await client.submit(part, flags.id === undefined ? {} : { id: flags.id });
  const { id, created, revision } = handle;
  if (flags.wait === undefined) {
    out.show({ id, created, revision }, created ? id : `${id} (was there already)`);
    return;
  }
  out.note(`${id} submitted; waiting for its result`);
  await showResult(session, handle, flags.wait === true ? DEFAULT_WAIT_S : whole(flags.wait, '--wait'));
}

async function showResult({ out }: Session, handle: Handle<readonly unknown[]>, seconds: number): Promise<void> {
  const results = await handle.result({ timeoutMs: seconds * 1_000 });
  const { id, created } = handle;
  out.show({ id, created, results }, results.map((result) => clean(toJson(result))).join('\n'));
}
