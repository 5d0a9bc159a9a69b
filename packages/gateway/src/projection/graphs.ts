/** Compiled workflows for explanations: loaded when first asked for, a few kept. */
import { readGraph, type Store } from '@leasehold/core/store';
import type { CompiledWorkflow } from '@leasehold/core/model';
import type { Graphs } from './facts.js';

const KEPT = 200;
const LOADING_AT_ONCE = 4;

export class LoadedGraphs implements Graphs {
  readonly #store: Store;
  readonly #onLoad: () => void;
  readonly #graphs = new Map<string, CompiledWorkflow>();
  readonly #loading = new Set<string>();

  constructor(store: Store, onLoad: () => void) {
    this.#store = store;
    this.#onLoad = onLoad;
  }

  get(workflowId: string): CompiledWorkflow | undefined {
    const graph = this.#graphs.get(workflowId);
    if (graph === undefined && this.#loading.size < LOADING_AT_ONCE) void this.load(workflowId);
    return graph;
  }

  /** Resolves when it is there, or cannot be had. */
  async load(id: string): Promise<void> {
    if (this.#loading.has(id) || this.#graphs.has(id)) return;
    this.#loading.add(id);
    try {
      const graph = await readGraph(this.#store, id);
      if (graph === undefined) return;
      this.#graphs.set(id, graph);
      if (this.#graphs.size > KEPT) this.#graphs.delete(this.#graphs.keys().next().value ?? '');
      this.#onLoad();
    } catch {
      // The store is away, or the source is unreadable: explained without its graph.
    } finally {
      this.#loading.delete(id);
    }
  }
}
