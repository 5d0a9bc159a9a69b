/** What a worker can run: task definitions and their handlers. A name that is not here is never claimed. */
import { describeDefinition } from '../model/bind.js';
import { LeaseholdError } from '../model/errors.js';
import type { HandlerInfo } from '../model/records.js';
import type { Handler, TaskDefinition } from '../model/task-types.js';
import type { TaskContext } from './context.js';
import { checkIsolated, type IsolatedHandler, type Threads } from './threads.js';

export interface Handling {
  readonly definition: TaskDefinition;
  readonly run: (args: unknown, context: TaskContext, threads: Threads) => unknown;
}

/**
 * Says which function runs a defined task; or, for one that computes for long, in which file it is: then it runs in a thread
 * of its own, `export default (args, context) => ...`.
 */
export function handle<T extends TaskDefinition>(
  definition: T,
  run: Handler<T, TaskContext> | IsolatedHandler,
): Handling {
  if (typeof run !== 'object') return { definition, run: run as Handling['run'] };
  checkIsolated(definition.name, run);
  return { definition, run: (args, context, threads) => threads.run(run, args, context) };
}

export class Handlers {
  readonly #byName = new Map<string, Handling>();
  /** What the node record advertises: every name it takes, former ones too. */
  readonly infos: readonly HandlerInfo[];

  constructor(handlings: readonly Handling[]) {
    const infos: HandlerInfo[] = [];
    for (const handling of handlings) {
      const { name, aliases } = handling.definition;
      if (typeof handling.run !== 'function') {
        throw new LeaseholdError('invalid', `handlers: what runs ${name} is no function`, { field: 'handlers', name });
      }
      const info = describeDefinition(handling.definition);
      for (const known of [name, ...aliases]) {
        if (this.#byName.has(known)) {
          throw new LeaseholdError('invalid', `handlers: two of them take the name ${known}`, {
            field: 'handlers',
            name: known,
          });
        }
        this.#byName.set(known, handling);
        infos.push(known === name ? info : { ...info, name: known, description: `former name of ${name}` });
      }
    }
    this.infos = infos;
  }

  find(name: string): Handling | undefined {
    return this.#byName.get(name);
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }
}
