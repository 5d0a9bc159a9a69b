/**
 * Keeps the claim pipeline full: as long as a queue has room and its window something claimable, claims are under way, all
 * at once; the committer puts what comes in one turn into one request.
 *
 * K1  Room is counted when a claim is made, not when it is answered: no more runs at once than a queue's concurrency.
 * K2  A claim is decided on settings as seen, and guarded by those same ones (I9); when they turn out old, it begins anew.
 * K3  An entry that was taken out of a window is given back, parked or marked as held, whatever becomes of its claim.
 * K4  While a claim is in doubt its task counts as owned, so that the audit does not take its lock for a stray.
 * K5  What this process owns is not claimed again, whatever old entry asks for it: the lock that refuses such a claim is
 *     this session's own and would pass for the answer to a claim in doubt, and the handler would run twice as one attempt.
 * K5  In an ordered queue one claim is decided at a time, of the first entry that may be claimed, and its answer awaited:
 *     that whatever stands before an entry was claimed once, is gone, or is blocked, nobody's later claim can make untrue.
 */
import type { LimitClaim } from '../model/task.js';
import type { Clock } from '../runtime/clock.js';
import type { Logger } from '../runtime/logger.js';
import type { Held } from '../store/claim.js';
import { limitsOf } from '../store/edge.js';
import { readTasks } from '../store/ready.js';
import type { Session } from '../store/session.js';
import type { Store } from '../store/store.js';
import { decideClaim, type Decided, type Reserved } from './claiming.js';
import type { Intake } from './intake.js';
import type { Limits } from './limits.js';
import type { Rates, RateClaim } from './rates.js';
import type { SettingsView } from './settings.js';
import type { Entry } from './window.js';

/** One queue as the claimer serves it. */
export interface Lane {
  readonly queue: string;
  readonly concurrency: number;
  readonly weight: number;
  readonly intake: Intake;
  /** Claims under way and tasks running. */
  active: number;
  /** Claims, and reads of records for claims, under way. */
  deciding: number;
  /** Turns taken, in units of its weight: the lane with the fewest goes next. */
  turns: number;
}

export interface ClaimerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: SettingsView;
  readonly limits: Limits;
  readonly rates: Rates;
  readonly lanes: readonly Lane[];
  /** At most so many at once over all lanes. */
  readonly concurrency: number;
  /** The session to claim under; undefined: nothing is claimed now. */
  readonly session: () => Session | undefined;
  /** Whether this process claims, runs or settles it already, in this worker or in another under the same session. */
  readonly owned: (id: string) => boolean;
  /** Runs what was claimed, to its end. */
  readonly run: (session: Session, held: Held) => Promise<void>;
}

/** Where an entry goes back to. */
export interface EntrySource {
  held(entry: Entry): void;
  again(entry: Entry): void;
  park(entry: Entry, reason: string): void;
}

export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #claiming = new Set<string>();
  readonly #bare: { readonly lane: Lane; readonly entry: Entry; readonly source: EntrySource }[] = [];
  #active = 0;
  #scheduled = false;
  #claimed = 0;
  readonly #quiet = new Set<() => void>();

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  /** Claims so far. */
  get claimed(): number {
    return this.#claimed;
  }

  owns(id: string): boolean {
    return this.#claiming.has(id);
  }

  /** Something changed: looks, in this turn of the event loop, at what can be claimed now. */
  wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#fill();
    });
  }

  /** What was parked for a setting is looked at again. */
  settingsChanged(): void {
    for (const { intake } of this.#options.lanes) {
      for (const reason of intake.window.parkedReasons()) {
        if (UNSETTLED.some((start) => reason.startsWith(start))) intake.window.unpark(reason);
      }
    }
    this.wake();
  }

  /** Resolves when no claim is under way. */
  quiet(): Promise<void> {
    if (this.#claiming.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#quiet.add(resolve));
  }

  room(lane: Lane): number {
    return Math.min(lane.concurrency - lane.active, this.#options.concurrency - this.#active);
  }

  #fill(): void {
    const session = this.#options.session();
    if (session === undefined || !session.isTrusted()) return;
    this.#unpark();
    this.#share(session);
    for (const { intake } of this.#options.lanes) intake.replenish();
  }

  /**
   * Room goes to the lanes by their weights. What a lane could not use (nothing to claim, no room of its own, a pause) is not
   * saved up for later; what the others used while the node was full it keeps.
   */
  #share(session: Session): void {
    const { lanes, concurrency } = this.#options;
    const mayTake = new Set(lanes);
    while (this.#active < concurrency && mayTake.size > 0) {
      const lane = fewestTurns([...mayTake]);
      if (this.#isOpen(lane) && this.#claimNext(session, lane)) continue;
      mayTake.delete(lane);
      lane.turns = Math.max(...lanes.map(({ turns }) => turns));
    }
  }

  #isOpen(lane: Lane): boolean {
    return lane.active < lane.concurrency && this.#mayClaim(lane);
  }

  /** Neither its queue nor everything is paused. Also asked for what was stolen, which passes no lane's turn (I9). */
  #mayClaim(lane: Lane): boolean {
    const { settings } = this.#options;
    return settings.all().settings.paused === undefined && settings.queue(lane.queue).settings.paused === undefined;
  }

  #unpark(): void {
    this.#unparkFor('limit', this.#options.limits.takeFreed());
    this.#unparkFor('rate', this.#options.rates.takeFreed());
  }

  #unparkFor(what: 'limit' | 'rate', freed: ReadonlyMap<string, number> | 'all'): void {
    for (const { intake } of this.#options.lanes) {
      if (freed !== 'all') {
        for (const [limit, count] of freed) intake.window.unpark(`${what} ${limit}`, count);
        continue;
      }
      for (const reason of intake.window.parkedReasons()) {
        if (reason.startsWith(`${what} `)) intake.window.unpark(reason);
      }
    }
  }

  /** False when the lane has nothing more to claim for now. */
  #claimNext(session: Session, lane: Lane): boolean {
    const { intake } = lane;
    // Settings that were not carried out yet: the shards are shared out anew first.
    if (intake.ordered !== (this.#options.settings.queue(lane.queue).settings.ordered === true)) return false;
    if (intake.ordered && lane.deciding > 0) return false;
    const entry = lane.intake.take();
    if (entry === undefined) return false;
    const begun = this.tryClaim(session, lane, entry, lane.intake.window);
    if (begun !== 'lane-full') return true;
    lane.intake.window.again(entry);
    return false;
  }

  /** Begins the claim of one entry, if nothing known here forbids it. */
  tryClaim(session: Session, lane: Lane, entry: Entry, source: EntrySource): 'begun' | 'parked' | 'lane-full' {
    const { settings, limits, rates } = this.#options;
    const { ready } = entry;
    const name = ready?.name ?? '';
    if (ready === undefined) {
      this.#readAgain(lane, entry, source);
      return 'parked';
    }
    if (this.#claiming.has(entry.id)) {
      source.park(entry, `claim ${entry.id}`);
      return 'parked';
    }
    if (this.#options.owned(entry.id)) {
      source.held(entry);
      return 'parked';
    }
    if (!this.#mayClaim(lane)) return 'lane-full';
    if (settings.name(name).settings.paused !== undefined) {
      source.park(entry, `name ${name}`);
      return 'parked';
    }
    const paced = this.#rates(lane.queue, name);
    // Only looked at before the slots are chosen: to give a slot back is news that would begin this anew.
    const usedUp = rates.usedUp(paced);
    if (usedUp !== undefined) return this.#blocked(lane, entry, source, 'rate', usedUp);
    const reserved = limits.reserve(this.#limits(lane.queue, name, ready.limits ?? []));
    if (reserved.kind === 'full') return this.#blocked(lane, entry, source, 'limit', reserved.limit);
    const seen = settings.seen(lane.queue, name);
    this.#begin(session, lane, entry, source, { slots: reserved.slots, units: rates.take(paced), settings: seen });
    return 'begun';
  }

  /** A limit of the whole lane stops the lane; another only the entry. */
  #blocked(
    lane: Lane,
    entry: Entry,
    source: EntrySource,
    what: 'limit' | 'rate',
    limit: string,
  ): 'parked' | 'lane-full' {
    if (limit === `queue/${lane.queue}` || limit === 'all') return 'lane-full';
    source.park(entry, `${what} ${limit}`);
    return 'parked';
  }

  /** An entry that was parked or held is a bare id: what it asks for is read from its record, many at once. */
  #readAgain(lane: Lane, entry: Entry, source: EntrySource): void {
    lane.deciding += 1;
    this.#bare.push({ lane, entry, source });
    if (this.#bare.length === 1) queueMicrotask(() => void this.#readBare());
  }

  async #readBare(): Promise<void> {
    const bare = this.#bare.splice(0);
    try {
      const records = await readTasks(
        this.#options.store,
        bare.map(({ entry }) => entry.id),
      );
      bare.forEach(({ entry, source }, i) => {
        const seen = records[i];
        if (seen === undefined) return source.held(entry);
        entry.seen = seen;
        entry.ready = { name: seen.task.name, limits: limitsOf(seen.task) };
        source.again(entry);
      });
    } catch (error) {
      this.#options.logger.warn('records could not be read', { error });
      await this.#options.clock.sleep(RETRY_MS);
      for (const { entry, source } of bare) source.again(entry);
    }
    for (const { lane } of bare) lane.deciding -= 1;
    this.wake();
  }

  #begin(session: Session, lane: Lane, entry: Entry, source: EntrySource, reserved: Reserved): void {
    lane.active += 1;
    lane.deciding += 1;
    lane.turns += 1 / lane.weight;
    this.#active += 1;
    this.#claiming.add(entry.id);
    void this.#claim(session, lane, entry, source, reserved);
  }

  /** Everything that may limit a task: its queue, its name, everything, and what the task says itself. */
  #limits(queue: string, name: string, own: readonly LimitClaim[]): readonly LimitClaim[] {
    const { settings } = this.#options;
    const named: readonly [string, number | undefined][] = [
      [`queue/${queue}`, settings.queue(queue).settings.concurrency],
      ['all', settings.all().settings.concurrency],
      [`name/${name}`, settings.name(name).settings.concurrency],
    ];
    const set = named.flatMap(([limit, max]) => (max === undefined ? [] : [{ limit, max }]));
    return set.length === 0 ? own : [...set, ...own];
  }

  /** Every rate at which its tasks may begin. */
  #rates(queue: string, name: string): readonly RateClaim[] {
    const { settings } = this.#options;
    const queueRate = settings.queue(queue).settings.rate;
    const allRate = settings.all().settings.rate;
    const nameRate = settings.name(name).settings.rate;
    if (queueRate === undefined && allRate === undefined && nameRate === undefined) return NO_RATES;
    return [
      ...(queueRate === undefined ? [] : [{ limit: `queue/${queue}`, rate: queueRate }]),
      ...(allRate === undefined ? [] : [{ limit: 'all', rate: allRate }]),
      ...(nameRate === undefined ? [] : [{ limit: `name/${name}`, rate: nameRate }]),
    ];
  }

  /** From the first try to the end of the run. Never rejects. */
  async #claim(session: Session, lane: Lane, entry: Entry, source: EntrySource, reserved: Reserved): Promise<void> {
    const decided = await this.#decide(session, lane, entry, reserved);
    const held = typeof decided === 'object' ? decided.held : undefined;
    this.#options.limits.release(reserved.slots, held !== undefined);
    this.#options.rates.release(reserved.units, held !== undefined);
    if (decided === 'again') source.again(entry);
    else source.held(entry);
    const run = held === undefined ? undefined : this.#options.run(session, held);
    // The executor owns it before the claim lets go of it.
    this.#claiming.delete(entry.id);
    lane.deciding -= 1;
    lane.intake.window.unpark(`claim ${entry.id}`);
    if (lane.intake.ordered) this.wake();
    if (this.#claiming.size === 0) this.#tellQuiet();
    if (run !== undefined) {
      this.#claimed += 1;
      await run;
    }
    lane.active -= 1;
    this.#active -= 1;
    this.wake();
  }

  async #decide(session: Session, lane: Lane, entry: Entry, reserved: Reserved): Promise<Decided> {
    try {
      return await decideClaim(this.#options, session, lane.queue, entry, reserved);
    } catch (error) {
      // Nobody knows whether it is locked now. Not at once again: the store has trouble.
      this.#options.logger.warn('a claim failed', { task: entry.id, error });
      await this.#options.clock.sleep(RETRY_MS, session.signal);
      return 'again';
    }
  }

  #tellQuiet(): void {
    for (const resolve of this.#quiet) resolve();
    this.#quiet.clear();
  }
}

const RETRY_MS = 500;
const NO_RATES: readonly RateClaim[] = Object.freeze([]);

/** Why an entry is parked that other settings may set free. */
const UNSETTLED = ['name ', 'limit name/', 'rate name/'];

function fewestTurns(lanes: readonly Lane[]): Lane {
  let fewest = lanes[0] as Lane;
  for (const lane of lanes) if (lane.turns < fewest.turns) fewest = lane;
  return fewest;
}
