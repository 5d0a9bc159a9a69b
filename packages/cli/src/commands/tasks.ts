import { decodeTask, LeaseholdError, TASK_STATES, type TaskRecord, type TaskState } from '@leasehold/core';
import { prefixEnd } from '@leasehold/core/kv';
import type { Command } from 'commander';
import { run, type CommonOptions, type Session } from '../command.js';
import { ago, cut, toJson, type Column } from '../output.js';
import { styleOf } from '../look.js';

interface ListFlags extends CommonOptions {
  readonly state?: readonly string[];
  readonly name?: string;
  readonly queue?: string;
  readonly tag?: string;
  readonly limit: string;
}

interface ActFlags extends CommonOptions {
  readonly reason?: string;
  readonly force?: boolean;
}

export function addTasks(program: Command): void {
  program
    .command('ls')
    .description('tasks, the newest last; reads all records, so narrow it on a large store')
    .option('--state <state...>', TASK_STATES.join(', '))
    .option('--name <task>')
    .option('--queue <queue>')
    .option('--tag <tag>')
    .option('--limit <n>', 'how many of the newest', '50')
    .action((_flags: object, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>();
      return run(flags, (session) => list(session, flags));
    });
  program
    .command('get')
    .description('one task or workflow, whole')
    .argument('<id>')
    .action((id: string, _flags: object, command: Command) =>
      run(command.optsWithGlobals<CommonOptions>(), (session) => show(session, id)),
    );
  for (const verb of ['retry', 'cancel'] as const) {
    const command = program
      .command(verb)
      .description(
        verb === 'retry' ? 'run an ended task, or what failed of a workflow, again' : 'end a task or workflow',
      )
      .argument('<ids...>')
      .option('--reason <text>', 'is recorded');
    if (verb === 'cancel') command.option('--force', 'do not wait for the worker of a running task');
    command.action((ids: string[], _flags: object, self: Command) => {
      const flags = self.optsWithGlobals<ActFlags>();
      return run(flags, (session) => act(session, verb, ids, flags));
    });
  }
}

async function list({ client, out }: Session, flags: ListFlags): Promise<void> {
  const states = (flags.state ?? []).map(readState);
  const limit = Math.max(1, Number(flags.limit) || 50);
  const wanted = (task: TaskRecord): boolean =>
    (states.length === 0 || states.includes(task.state)) &&
    (flags.name === undefined || task.name === flags.name) &&
    (flags.queue === undefined || task.queue === flags.queue) &&
    (flags.tag === undefined || (task.tags ?? []).includes(flags.tag));
  const prefix = client.store.keys.kind('tasks');
  let newest: TaskRecord[] = [];
  let matching = 0;
  for (let key = prefix; ;) {
    const page = await client.store.kv.range({ key, rangeEnd: prefixEnd(prefix), limit: 1_000 });
    const found = page.kvs.map(({ value }) => decodeTask(value)).filter(wanted);
    matching += found.length;
    newest = [...newest, ...found].slice(-limit);
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) break;
    key = `${last.key}\0`;
  }
  out.table(newest, taskColumns(Date.now()), 'no tasks');
  if (matching > newest.length) out.note(`the newest ${newest.length} of ${matching}`);
}

function readState(text: string): TaskState {
  const state = TASK_STATES.find((known) => known === text.toUpperCase());
  if (state !== undefined) return state;
  throw new LeaseholdError('invalid', `--state: ${text} is none of ${TASK_STATES.join(', ')}`, { field: 'state' });
}

export function taskColumns(nowMs: number): readonly Column<TaskRecord>[] {
  return [
    { title: 'id', text: ({ id }) => id },
    { title: 'state', text: ({ state }) => state, style: ({ state }) => styleOf(state) },
    { title: 'name', text: ({ name }) => name },
    { title: 'queue', text: ({ queue }) => queue },
    { title: 'try', text: ({ attempt, retry }) => `${attempt}/${retry.count + 1}`, right: true },
    { title: 'when', text: (task) => when(task, nowMs) },
    { title: 'args', text: (task) => cut(preview(task), 60) },
  ];
}

function when(task: TaskRecord, nowMs: number): string {
  if (task.state === 'SCHEDULED' || task.state === 'RETRY') return ago(task.dueMs ?? task.scheduleAtMs, nowMs);
  return ago(task.endedMs ?? task.startedMs ?? task.createdMs, nowMs);
}

function preview(task: TaskRecord): string {
  if (task.state === 'FAILURE' && task.error !== undefined) return `${task.error.type}: ${task.error.message}`;
  if (task.args === undefined) return '(large)';
  return task.args.map((arg, index) => (task.secrets?.includes(index) === true ? '•••' : toJson(arg.value))).join(' ');
}

async function show({ client, out }: Session, id: string): Promise<void> {
  const record = (await client.get(id)) ?? (await client.getWorkflow(id));
  if (record === undefined) throw new LeaseholdError('not-found', `there is no task or workflow ${id}`, { id });
  out.show(hideSecrets(record), JSON.stringify(JSON.parse(toJson(hideSecrets(record))), undefined, 2));
}

function hideSecrets(record: object): object {
  const { secrets, args } = record as Partial<TaskRecord>;
  if (secrets === undefined || args === undefined) return record;
  return { ...record, args: args.map((arg, index) => (secrets.includes(index) ? { ...arg, value: '•••' } : arg)) };
}

async function act(
  { client, out }: Session,
  verb: 'retry' | 'cancel',
  ids: readonly string[],
  flags: ActFlags,
): Promise<void> {
  const reason = flags.reason === undefined ? {} : { reason: flags.reason };
  for (const id of ids) {
    const { revision } =
      verb === 'retry'
        ? await client.retry(id, reason)
        : await client.cancel(id, { ...reason, force: flags.force === true });
    out.show(
      { id, done: verb, revision },
      `${id}: ${verb === 'retry' ? 'runs again' : 'is being ended'} (revision ${revision})`,
    );
  }
}
