/** Pure: which members of a workflow run again, and what every join awaits then. */
import { isEnded, type TaskState } from './state.js';
import type { Continuation } from './task.js';
import type { CompiledJoin, CompiledTask, CompiledWorkflow } from './workflow.js';

export interface ReopenSelection {
  /** This member, and what was stopped because of it. */
  readonly only?: number;
  /** This member and everything that follows it, also what had succeeded. */
  readonly from?: number;
}

export interface ReopenPlan {
  /** Members to be put back to WAITING. */
  readonly tasks: ReadonlySet<number>;
  /** Joins to be opened again, with the slots they await; `held` for one without members that is not reached yet. */
  readonly joins: readonly { readonly join: number; readonly slots: readonly number[]; readonly held: boolean }[];
}

type Unit = { readonly task: CompiledTask } | { readonly join: CompiledJoin };

/** The states of all members, by index; undefined for one that was never written. */
export type States = readonly (TaskState | undefined)[];

export function planReopen(workflow: CompiledWorkflow, states: States, selection: ReopenSelection): ReopenPlan {
  const tasks = selectTasks(workflow, states, selection);
  const units = new Units(workflow);
  const joins = workflow.joins.flatMap((join) => {
    if (!units.incomplete({ join }, tasks)) return [];
    const slots = units.lastOfSlots(join.join).flatMap((unit, slot) => (units.incomplete(unit, tasks) ? [slot] : []));
    return [{ join: join.join, slots, held: join.slots === 0 }];
  });
  return { tasks, joins };
}

function selectTasks(workflow: CompiledWorkflow, states: States, selection: ReopenSelection): ReadonlySet<number> {
  const { only, from } = selection;
  if (only === undefined && from === undefined) return new Selector(workflow, states).all();
  const first = from ?? only ?? 0;
  const after = following(workflow, first).flatMap(([start, end]) =>
    Array.from({ length: end - start }, (_, i) => start + i),
  );
  // What has already run after this member, well or not, would not notice what becomes of it now: it runs again too.
  const ran = (index: number): boolean => states[index] === 'SUCCESS' || states[index] === 'FAILURE';
  const everything = from !== undefined || after.some(ran);
  return new Set([first, ...after.filter((index) => everything || states[index] === 'CANCELLED')]);
}

/** How a part came out. `cut`: it was stopped from outside, or never began. */
type Fate = 'ok' | 'failed' | 'cut';

/**
 * Picks what has to run again for the whole to succeed: descends only into what is not well in the eyes of what is around
 * it. A failure that a scope ignored is left alone, and so is everything that was dropped because of it.
 */
class Selector {
  readonly #workflow: CompiledWorkflow;
  readonly #states: States;
  readonly #slots: Unit[][][];
  readonly #selected = new Set<number>();

  constructor(workflow: CompiledWorkflow, states: States) {
    this.#workflow = workflow;
    this.#states = states;
    this.#slots = workflow.joins.map((join) => Array.from({ length: join.slots }, () => []));
    for (const task of workflow.tasks) this.#place({ task }, task.cont);
    for (const join of workflow.joins) if (join.cont !== undefined) this.#place({ join }, join.cont);
    for (const slots of this.#slots) for (const units of slots) units.sort(byPosition);
  }

  all(): ReadonlySet<number> {
    const root = this.#workflow.joins[0];
    if (root !== undefined) this.#selectJoin(root);
    return this.#selected;
  }

  #place(unit: Unit, { up }: Continuation): void {
    this.#slots[up.join]?.[up.slot]?.push(unit);
  }

  #fate(unit: Unit): Fate {
    if ('join' in unit) return this.#joinFate(unit.join);
    const state = this.#states[unit.task.index];
    if (state === 'SUCCESS') return 'ok';
    return state === 'FAILURE' ? 'failed' : 'cut';
  }

  #slotFate(units: readonly Unit[]): Fate {
    for (const unit of units) {
      const fate = this.#fate(unit);
      if (!passes(unit, fate)) return fate;
    }
    return 'ok';
  }

  #joinFate(join: CompiledJoin): Fate {
    const fates = (this.#slots[join.join] ?? []).map((units) => this.#slotFate(units));
    if (join.policy === 'ignore') return fates.includes('cut') ? 'cut' : 'ok';
    if (fates.includes('failed')) return 'failed';
    return fates.includes('cut') ? 'cut' : 'ok';
  }

  #selectJoin(join: CompiledJoin): void {
    for (const units of this.#slots[join.join] ?? []) {
      const fate = this.#slotFate(units);
      if (fate !== 'ok' && !(fate === 'failed' && join.policy === 'ignore')) this.#selectSlot(units);
    }
  }

  /** The first unit that did not come out well, and everything after it, which never ran. */
  #selectSlot(units: readonly Unit[]): void {
    const at = units.findIndex((unit) => !passes(unit, this.#fate(unit)));
    units.slice(at).forEach((unit, i) => {
      if ('task' in unit) this.#selected.add(unit.task.index);
      else if (i === 0) this.#selectJoin(unit.join);
      else for (let index = unit.join.range[0]; index < unit.join.range[1]; index++) this.#selected.add(index);
    });
  }
}

function passes(unit: Unit, fate: Fate): boolean {
  const cont = 'task' in unit ? unit.task.cont : unit.join.cont;
  return fate === 'ok' || (fate === 'failed' && cont?.policy === 'ignore');
}

function byPosition(a: Unit, b: Unit): number {
  const [startA, endA, joinA] = position(a);
  const [startB, endB, joinB] = position(b);
  return startA - startB || endA - endB || joinA - joinB;
}

function position(unit: Unit): readonly [number, number, number] {
  return 'task' in unit
    ? [unit.task.index, unit.task.index + 1, 0]
    : [unit.join.range[0], unit.join.range[1], unit.join.join];
}

/** Ranges of everything that comes after a task: the rest of its chain, and of the chains around it. */
function following(workflow: CompiledWorkflow, index: number): readonly (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  let cont: Continuation | undefined = workflow.tasks[index]?.cont;
  while (cont !== undefined) {
    if (cont.next !== undefined) ranges.push(cont.next.rest);
    cont = workflow.joins[cont.up.join]?.cont;
  }
  return ranges;
}

/** Members that wait for nobody that is incomplete: they may be released. */
export function startable(workflow: CompiledWorkflow, states: States): readonly number[] {
  const units = new Units(workflow);
  const open = new Set(workflow.tasks.filter((task) => !over(states[task.index])).map((task) => task.index));
  return workflow.tasks
    .filter((task) => states[task.index] === 'WAITING')
    .filter((task) => {
      const before = units.predecessor(task.index);
      return before === undefined || !units.incomplete(before, open);
    })
    .map((task) => task.index);
}

function touches(join: CompiledJoin, open: ReadonlySet<number>): boolean {
  for (let i = join.range[0]; i < join.range[1]; i++) if (open.has(i)) return true;
  return false;
}

function over(state: TaskState | undefined): boolean {
  return state !== undefined && isEnded(state);
}

class Units {
  readonly #before = new Map<number, Unit>();
  readonly #beforeJoin = new Map<number, Unit>();
  readonly #lasts: Unit[][];

  constructor(workflow: CompiledWorkflow) {
    this.#lasts = workflow.joins.map(() => []);
    for (const task of workflow.tasks) this.#add({ task }, task.cont);
    for (const join of workflow.joins) if (join.cont !== undefined) this.#add({ join }, join.cont);
  }

  /** What a task waits for directly; undefined for a task that is ready from the start. */
  predecessor(index: number): Unit | undefined {
    return this.#before.get(index);
  }

  /** The unit with which each slot of a join ends. */
  lastOfSlots(join: number): readonly Unit[] {
    return this.#lasts[join] ?? [];
  }

  incomplete(unit: Unit, open: ReadonlySet<number>): boolean {
    if ('task' in unit) return open.has(unit.task.index);
    const { join } = unit;
    if (join.slots === 0) return this.#follows(join, open);
    return touches(join, open) || this.lastOfSlots(join.join).some((last) => this.incomplete(last, open));
  }

  /** A join without members is as complete as what precedes it. */
  #follows(join: CompiledJoin, open: ReadonlySet<number>): boolean {
    const before = this.#beforeJoin.get(join.join);
    return before !== undefined && this.incomplete(before, open);
  }

  #add(unit: Unit, cont: Continuation): void {
    if (cont.next === undefined) {
      const lasts = this.#lasts[cont.up.join];
      if (lasts !== undefined) lasts[cont.up.slot] = unit;
      return;
    }
    for (const entry of cont.next.entries) this.#before.set(entry, unit);
    for (const join of cont.next.joins ?? []) this.#beforeJoin.set(join, unit);
  }
}
