/**
 * Compiles a workflow (chains, groups and chords, nested in any way) to tasks and joins.
 *
 * A *join* is the barrier of a group: it awaits its members and then goes on. Join 0 is the root: when it completes, the
 * workflow ends. Every task and every join has exactly one continuation: the next step of its chain, or the slot of the
 * join that its chain reports to. Tasks are numbered depth first, so everything later in a chain, and everything inside a
 * group, is one range of numbers. Compilation is a pure function of the source: the source is stored, the graph is not.
 *
 * W1  A WAITING task is always awaited by something that has not ended: its predecessor, or a join that is open.
 * W2  `rest` of a step covers exactly the later steps of its own chain.
 * W3  A chain inside a chain is flattened when it has the same policy and no error callback of its own; otherwise it gets
 *     a join with one slot, so that a continuation never has to look up more than one level.
 */
import { LeaseholdError } from './errors.js';
import { memberId } from './ids.js';
import type { FailurePolicy, Signature, Workflow } from './signature.js';
import type { Continuation, InputSource, LimitClaim } from './task.js';

export interface CompiledTask {
  readonly index: number;
  readonly id: string;
  readonly signature: Signature;
  readonly cont: Continuation;
  readonly inputs?: InputSource;
  readonly limits: readonly LimitClaim[];
}

export interface CompiledJoin {
  readonly join: number;
  /** How many members it awaits. */
  readonly slots: number;
  /** All tasks inside it, nested ones too: [from, to). */
  readonly range: readonly [number, number];
  readonly policy: FailurePolicy;
  /** Absent for the root. */
  readonly cont?: Continuation;
  /** What each slot contributes to the results, in order; undefined for a slot without results. */
  readonly exits: readonly (InputSource | undefined)[];
  readonly onError?: Workflow;
  /** Only there to look at failures: it stands around one part, and what that yields it yields, not a list of it. */
  readonly scope?: true;
}

export interface CompiledWorkflow {
  readonly id: string;
  readonly tasks: readonly CompiledTask[];
  readonly joins: readonly CompiledJoin[];
  /** Tasks that are ready from the start. */
  readonly entries: readonly number[];
  /** Joins without members that are complete from the start. */
  readonly emptyJoins: readonly number[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type TaskDraft = Mutable<CompiledTask> & { cont: Mutable<Continuation> };
type JoinDraft = Omit<Mutable<CompiledJoin>, 'cont' | 'exits'> & {
  cont?: Mutable<Continuation>;
  exits: (InputSource | undefined)[];
};

interface Scope {
  readonly up: { readonly join: number; readonly slot: number };
  readonly inputs: InputSource | undefined;
  /** The inputs come from a group: a receiving task that is immutable does not take them. */
  readonly fromGroup: boolean;
  readonly limits: readonly LimitClaim[];
}

/** What a part looks like from outside: where it starts, where its results are, and whose `next` leads on. */
interface Part {
  readonly entries: readonly number[];
  readonly emptyJoins: readonly number[];
  readonly exit: InputSource | undefined;
  readonly exitIsGroup: boolean;
  readonly tail: { cont?: Mutable<Continuation> };
}

/** A step of a chain while the chain is being compiled. */
interface Link {
  readonly tail: Part['tail'];
  next?: Part;
  readonly start: number;
  readonly startJoin: number;
}

export function compileWorkflow(id: string, source: Workflow): CompiledWorkflow {
  const compiler = new Compiler(id);
  const part = compiler.root(source);
  return {
    id,
    tasks: compiler.tasks,
    joins: compiler.joins,
    entries: part.entries,
    emptyJoins: part.emptyJoins,
  };
}

class Compiler {
  readonly tasks: TaskDraft[] = [];
  readonly joins: JoinDraft[] = [];
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  root(source: Workflow): Part {
    const root = this.#openJoin('stop', undefined);
    const part = this.part(source, {
      up: { join: root.join, slot: 0 },
      inputs: undefined,
      fromGroup: false,
      limits: [],
    });
    this.#closeJoin(root, 1, [part.exit]);
    return part;
  }

  part(source: Workflow, scope: Scope): Part {
    switch (source.kind) {
      case 'task':
        return this.#task(source.signature, scope, 'stop');
      case 'chain':
        return source.onError === undefined
          ? this.#chain(source.steps, source.onFailure ?? 'stop', scope)
          : this.#scoped(source.onError, scope, (inner) =>
              this.#chain(source.steps, source.onFailure ?? 'stop', inner),
            );
      case 'group':
        return this.#group(source, scope);
      case 'chord':
        return this.part(asChain(source), scope);
    }
  }

  #task(signature: Signature, scope: Scope, policy: FailurePolicy): Part {
    const index = this.tasks.length;
    const takes = scope.inputs !== undefined && !(scope.fromGroup && signature.immutable === true);
    const task: TaskDraft = {
      index,
      id: memberId(this.#id, index),
      signature,
      cont: { up: scope.up, policy },
      limits: scope.limits,
      ...(takes && scope.inputs !== undefined ? { inputs: scope.inputs } : {}),
    };
    this.tasks.push(task);
    const exit = signature.immutable === true ? undefined : { task: index };
    return { entries: [index], emptyJoins: [], exit, exitIsGroup: false, tail: task };
  }

  #chain(steps: readonly Workflow[], policy: FailurePolicy, scope: Scope): Part {
    const flat = flatten(steps, policy);
    if (flat.length === 0) throw new LeaseholdError('invalid', 'a chain needs at least one step', { field: 'steps' });
    const links: Link[] = [];
    let first: Part | undefined;
    let last: Part | undefined;
    for (const step of flat) {
      const inner: Scope = last === undefined ? scope : { ...scope, inputs: last.exit, fromGroup: last.exitIsGroup };
      const [start, startJoin] = [this.tasks.length, this.joins.length];
      const part = this.#step(step, inner);
      if (part.tail.cont !== undefined) part.tail.cont.policy = policy;
      const previous = links.at(-1);
      if (previous !== undefined) previous.next = part;
      links.push({ tail: part.tail, start, startJoin });
      first ??= part;
      last = part;
    }
    if (first === undefined || last === undefined) throw new Error('unreachable: a chain has a step');
    this.#linkSteps(links);
    return { ...last, entries: first.entries, emptyJoins: first.emptyJoins };
  }

  /** A chain as a step of a chain: of another policy, or it would have been flattened; gets a join of its own (W3). */
  #step(step: Workflow, scope: Scope): Part {
    if (step.kind !== 'chain' || step.onError !== undefined) return this.part(step, scope);
    return this.#scoped(undefined, scope, (inner) => this.#chain(step.steps, step.onFailure ?? 'stop', inner));
  }

  #linkSteps(links: readonly Link[]): void {
    const [end, endJoin] = [this.tasks.length, this.joins.length];
    links.forEach((link, i) => {
      const following = links[i + 1];
      if (link.next === undefined || following === undefined || link.tail.cont === undefined) return;
      link.tail.cont.next = {
        entries: link.next.entries,
        ...(link.next.emptyJoins.length > 0 ? { joins: link.next.emptyJoins } : {}),
        rest: [following.start, end],
        restJoins: [following.startJoin, endJoin],
      };
    });
  }

  #group(source: Extract<Workflow, { kind: 'group' }>, scope: Scope): Part {
    const join = this.#openJoin(source.onFailure ?? 'stop', source.onError);
    const limits =
      source.concurrency === undefined || source.concurrency === 0
        ? scope.limits
        : [...scope.limits, { limit: `wf/${this.#id}/${join.join}`, max: source.concurrency }];
    const parts = source.members.map((member, slot) =>
      this.part(member, { ...scope, limits, up: { join: join.join, slot } }),
    );
    join.cont = { up: scope.up, policy: 'stop' };
    this.#closeJoin(
      join,
      parts.length,
      parts.map((part) => part.exit),
    );
    return {
      entries: parts.flatMap((part) => part.entries),
      emptyJoins: parts.length === 0 ? [join.join] : parts.flatMap((part) => part.emptyJoins),
      exit: { join: join.join },
      exitIsGroup: true,
      tail: join,
    };
  }

  /** A join with one slot around a part: a level at which a failure can be looked at. */
  #scoped(onError: Workflow | undefined, scope: Scope, build: (inner: Scope) => Part): Part {
    const join = this.#openJoin('wait-all', onError);
    join.scope = true;
    const part = build({ ...scope, up: { join: join.join, slot: 0 } });
    join.cont = { up: scope.up, policy: 'stop' };
    this.#closeJoin(join, 1, [part.exit]);
    return {
      entries: part.entries,
      emptyJoins: part.emptyJoins,
      exit: part.exit === undefined ? undefined : { join: join.join },
      exitIsGroup: part.exitIsGroup,
      tail: join,
    };
  }

  #openJoin(policy: FailurePolicy, onError: Workflow | undefined): JoinDraft {
    const join: JoinDraft = {
      join: this.joins.length,
      slots: 0,
      range: [this.tasks.length, this.tasks.length],
      policy,
      exits: [],
      ...(onError === undefined ? {} : { onError }),
    };
    this.joins.push(join);
    return join;
  }

  #closeJoin(join: JoinDraft, slots: number, exits: readonly (InputSource | undefined)[]): void {
    join.slots = slots;
    join.range = [join.range[0], this.tasks.length];
    join.exits = [...exits];
  }
}

function flatten(steps: readonly Workflow[], policy: FailurePolicy): readonly Workflow[] {
  return steps.flatMap((given) => {
    const step = given.kind === 'chord' ? asChain(given) : given;
    return step.kind === 'chain' && step.onError === undefined && (step.onFailure ?? 'stop') === policy
      ? flatten(step.steps, policy)
      : [step];
  });
}

/** A chord is a chain of its group and its callback; its failure policy is that of the group. */
function asChain(chord: Extract<Workflow, { kind: 'chord' }>): Extract<Workflow, { kind: 'chain' }> {
  const group: Workflow = {
    kind: 'group',
    members: chord.header,
    ...(chord.onFailure === undefined ? {} : { onFailure: chord.onFailure }),
    ...(chord.concurrency === undefined ? {} : { concurrency: chord.concurrency }),
  };
  return {
    kind: 'chain',
    steps: [group, chord.callback],
    ...(chord.onError === undefined ? {} : { onError: chord.onError }),
  };
}

/** The tasks whose results a source stands for, in order. */
export function exitTasks(workflow: CompiledWorkflow, source: InputSource): readonly number[] {
  if ('task' in source) return [source.task];
  const join = workflow.joins[source.join];
  if (join === undefined) throw new RangeError(`workflow ${workflow.id} has no join ${source.join}`);
  return join.exits.flatMap((exit) => (exit === undefined ? [] : exitTasks(workflow, exit)));
}

/** True when a source is one task's results, not a list of several. */
export function isSingleExit(workflow: CompiledWorkflow, source: InputSource): boolean {
  if ('task' in source) return true;
  const join = workflow.joins[source.join];
  const [inner] = join?.exits ?? [];
  return join?.scope === true && inner !== undefined && isSingleExit(workflow, inner);
}

/** All tasks of a workflow without compiling it. */
export function countTasks(workflow: Workflow): number {
  switch (workflow.kind) {
    case 'task':
      return 1;
    case 'chain':
      return workflow.steps.reduce((sum, step) => sum + countTasks(step), 0);
    case 'group':
      return workflow.members.reduce((sum, member) => sum + countTasks(member), 0);
    case 'chord':
      return workflow.header.reduce((sum, member) => sum + countTasks(member), countTasks(workflow.callback));
  }
}
