/** Compiled workflows as the rules ask about them: what a member waits for, what follows it, with what a slot ends. */
import { decodeRecord } from '../model/codec.js';
import type { Workflow } from '../model/signature.js';
import type { Continuation } from '../model/task.js';
import { compileWorkflow, type CompiledJoin, type CompiledTask, type CompiledWorkflow } from '../model/workflow.js';
import type { View } from './view.js';

export type Unit = { readonly task: CompiledTask } | { readonly join: CompiledJoin };

export class Graph {
  readonly compiled: CompiledWorkflow;
  readonly #before = new Map<number, Unit>();
  readonly #beforeJoin = new Map<number, Unit>();
  readonly #lasts = new Map<string, Unit>();

  constructor(compiled: CompiledWorkflow) {
    this.compiled = compiled;
    for (const task of compiled.tasks) this.#add({ task }, task.cont);
    for (const join of compiled.joins) if (join.cont !== undefined) this.#add({ join }, join.cont);
  }

  /** What a task waits for directly; undefined for one that is ready from the start. */
  predecessor(index: number): Unit | undefined {
    return this.#before.get(index);
  }

  /** What a unit waits for; for a join with members: what those at its beginning wait for. */
  predecessorOf(unit: Unit): Unit | undefined {
    if ('task' in unit) return this.predecessor(unit.task.index);
    return this.#beforeJoin.get(unit.join.join) ?? this.predecessor(unit.join.range[0]);
  }

  /** The unit with which a slot of a join ends. */
  lastOf(join: number, slot: number): Unit | undefined {
    return this.#lasts.get(`${join}/${slot}`);
  }

  join(join: number): CompiledJoin | undefined {
    return this.compiled.joins[join];
  }

  #add(unit: Unit, cont: Continuation): void {
    if (cont.next === undefined) {
      this.#lasts.set(`${cont.up.join}/${cont.up.slot}`, unit);
      return;
    }
    for (const entry of cont.next.entries) this.#before.set(entry, unit);
    for (const join of cont.next.joins ?? []) this.#beforeJoin.set(join, unit);
  }
}

export function contOf(unit: Unit): Continuation | undefined {
  return 'task' in unit ? unit.task.cont : unit.join.cont;
}

/** Graphs by workflow. A source never changes once its workflow is there, so a graph is compiled once. */
export class Graphs {
  readonly #view: View;
  readonly #known = new Map<string, Graph>();

  constructor(view: View) {
    this.#view = view;
  }

  /** Undefined while parts of the source are missing. */
  of(workflow: string): Graph | undefined {
    const known = this.#known.get(workflow);
    if (known !== undefined) return known;
    const source = this.#source(workflow);
    if (source === undefined) return undefined;
    const graph = new Graph(compileWorkflow(workflow, source));
    this.#known.set(workflow, graph);
    return graph;
  }

  forget(workflow: string): void {
    this.#known.delete(workflow);
  }

  #source(workflow: string): Workflow | undefined {
    const { keys } = this.#view;
    const record = this.#view.workflowOf(this.#view.get(keys.workflow(workflow)));
    if (record === undefined) return undefined;
    const parts = Array.from({ length: record.parts }, (_, n) => this.#view.get(keys.graph(workflow, n))?.value);
    if (parts.includes(undefined)) return undefined;
    return decodeRecord<{ source: Workflow }>(parts.join(''), 'workflow source').source;
  }
}
