/**
 * The offline checker: proves I1 to I9 and I11 from the history of a namespace, one whole revision at a time. It knows
 * nothing of the processes that wrote it: whatever they believed, this is what they did.
 */
import type { Revision } from '../kv/kv.js';
import { LeaseholdError } from '../model/errors.js';
import { Keys } from '../model/keys.js';
import { checkEdges } from './edges.js';
import { checkEndings } from './endings.js';
import { Graphs } from './graphs.js';
import type { History, HistoryRevision, HistoryStart } from './history.js';
import { checkOffices } from './offices.js';
import { checkPlaces, touchedTasks } from './places.js';
import { checkAcknowledged, checkQuiet, type Acknowledged } from './quiet.js';
import { Past, type Scene } from './scene.js';
import type { Invariant, Violation } from './violation.js';
import { View } from './view.js';
import { checkWaiting } from './waiting.js';
import { checkWorkflows } from './workflows.js';

export interface CheckerOptions {
  readonly namespace: string;
  /** The state that the history continues. Default: nothing, at revision 0. */
  readonly start?: HistoryStart;
}

/** What is known from outside about the end of a history. */
export interface Expectations {
  /** Submissions that were acknowledged (I5). */
  readonly acknowledged?: readonly Acknowledged[];
  /** Everything is expected to have ended, and nothing to be left over. */
  readonly quiet?: boolean;
}

export class Checker {
  readonly #view: View;
  readonly #graphs: Graphs;
  readonly #past = new Past();
  readonly #violations: Violation[] = [];
  #revisions = 0;

  constructor({ namespace, start = { revision: 0n, kvs: [] } }: CheckerOptions) {
    this.#view = new View(new Keys(namespace), start.revision, start.kvs);
    this.#graphs = new Graphs(this.#view);
    for (const { key } of start.kvs) if (this.#view.keys.parse(key)?.kind === 'fires') this.#past.fired.add(key);
    this.#checkStart();
  }

  get revision(): Revision {
    return this.#view.revision;
  }

  /** How many revisions were checked. */
  get revisions(): number {
    return this.#revisions;
  }

  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** The state at the last revision. */
  get view(): View {
    return this.#view;
  }

  /**
   * Checks the next revision and returns what is wrong with it.
   * @throws LeaseholdError `conflict` when revisions are missing or out of order.
   */
  apply({ revision, events }: HistoryRevision): readonly Violation[] {
    this.#requireNext(revision, events);
    const changes = this.#view.advance(revision, events);
    this.#revisions++;
    return this.#collect((scene) => {
      checkPlaces(scene, touchedTasks(changes));
      checkEdges(scene);
      checkEndings(scene);
      checkWorkflows(scene);
      checkWaiting(scene);
      checkOffices(scene);
    });
  }

  /** What is wrong with the end, given what is known from outside. */
  finish(expected: Expectations = {}): readonly Violation[] {
    return this.#collect((scene) => {
      checkAcknowledged(scene, expected.acknowledged ?? []);
      if (expected.quiet === true) checkQuiet(scene);
    });
  }

  /** What `quiet` would find, without counting as a finding. */
  leftovers(): readonly Violation[] {
    return this.#look(checkQuiet);
  }

  #checkStart(): void {
    this.#collect((scene) => {
      const ids = new Set<string>();
      for (const { key, value } of this.#view.all()) {
        const parsed = this.#view.keys.parse(key);
        if (parsed?.kind === 'unique' || parsed?.kind === 'slots') ids.add(value);
        else if (parsed?.kind === 'tasks' || parsed?.kind === 'locks') ids.add(parsed.id);
      }
      checkPlaces(scene, ids);
    });
  }

  #collect(look: (scene: Scene) => void): readonly Violation[] {
    const found = this.#look(look);
    this.#violations.push(...found);
    return found;
  }

  #look(look: (scene: Scene) => void): readonly Violation[] {
    const found: Violation[] = [];
    const { revision } = this.#view;
    const report = (invariant: Invariant, keys: readonly string[], message: string): void => {
      found.push({ invariant, revision, keys, message });
    };
    look({ view: this.#view, graphs: this.#graphs, report, past: this.#past });
    return found;
  }

  /** Events carry what was there before: a history with a hole is noticed instead of judged. */
  #requireNext(revision: Revision, events: HistoryRevision['events']): void {
    if (revision <= this.#view.revision) {
      throw new LeaseholdError('conflict', `revision ${revision} follows ${this.#view.revision}`, {
        revision: String(revision),
      });
    }
    const touched = new Set<string>();
    for (const { kv, prev } of events) {
      const known = this.#view.get(kv.key);
      const gap = !touched.has(kv.key) && prev !== undefined && prev.modRevision !== known?.modRevision;
      touched.add(kv.key);
      if (!gap || this.#view.keys.parse(kv.key) === undefined) continue;
      throw new LeaseholdError('conflict', `the history has a hole: ${kv.key} was written at ${prev.modRevision}`, {
        key: kv.key,
        revision: String(revision),
      });
    }
  }
}

/** Checks a recorded history as a whole. */
export function checkHistory(
  revisions: Iterable<HistoryRevision>,
  options: CheckerOptions & Expectations,
): readonly Violation[] {
  const checker = new Checker(options);
  for (const revision of revisions) checker.apply(revision);
  checker.finish(options);
  return checker.violations;
}

/** Checks a history while it is read. `onViolation` hears of each as it is found. */
export async function verifyHistory(
  history: History,
  options: Omit<CheckerOptions, 'start'> & Expectations & { readonly onViolation?: (violation: Violation) => void },
): Promise<Checker> {
  const checker = new Checker({ namespace: options.namespace, start: history.start });
  const tell = (found: readonly Violation[]): void => found.forEach((violation) => options.onViolation?.(violation));
  tell(checker.violations);
  for await (const revision of history.revisions) tell(checker.apply(revision));
  tell(checker.finish(options));
  return checker;
}
