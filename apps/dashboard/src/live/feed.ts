'use client';
/**
 * Feeds the TanStack Query cache, the only cache of the page, from the socket.
 *
 * F1  A subscription is named by what it asks for, never by a revision; the window is moved, not asked for again.
 * F2  A change that does not follow on the view held is not applied: the subscription is made afresh.
 * F3  A message is acknowledged after the frame that shows it, so a slow page slows its own feed and nobody else's.
 * F4  After a reconnect every subscription is made again; until its snapshot comes, the old view stays, marked as old.
 */
import { toLogin } from '../access/sign-in';
import type { QueryClient } from '@tanstack/react-query';
import {
  applyChange,
  type Change,
  type LiveQuery,
  type LiveView,
  type Row,
  type Snapshot,
  type Window,
} from '@leasehold/wire';
import { noteServerTime } from '../time/offset';
import { FIRST_LINK, laterRevision, LINK_KEY, liveKey, type Link } from './link';
import { openSocket, type LiveSocket } from './socket';

interface Subscription {
  readonly sub: string;
  query: LiveQuery;
  frozen: boolean;
  users: number;
  /** Its view is being asked for: changes that still come belong to the old one. */
  asking: boolean;
  ending?: ReturnType<typeof setTimeout> | undefined;
}

/** A page that is left and come back to soon keeps its view. */
const LINGER_MS = 3_000;

export class Feed {
  readonly #cache: QueryClient;
  readonly #socket: LiveSocket;
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(cache: QueryClient) {
    this.#cache = cache;
    cache.setQueryData<Link>(LINK_KEY, FIRST_LINK);
    this.#socket = openSocket();
    this.#listen();
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility);
    this.#socket.disconnect();
  }

  /** Follows a query until the returned function is called. */
  follow(sub: string, query: LiveQuery): () => void {
    const known = this.#subscriptions.get(sub);
    const subscription = known ?? { sub, query, frozen: false, users: 0, asking: false };
    subscription.users++;
    clearTimeout(subscription.ending);
    subscription.ending = undefined;
    if (known === undefined) {
      this.#subscriptions.set(sub, subscription);
      this.#ask(subscription);
    }
    return () => {
      subscription.users--;
      if (subscription.users > 0) return;
      this.freeze(sub, false);
      subscription.ending = setTimeout(() => this.#drop(subscription), LINGER_MS);
    };
  }

  freeze(sub: string, frozen: boolean): void {
    const subscription = this.#subscriptions.get(sub);
    if (subscription === undefined || subscription.frozen === frozen) return;
    subscription.frozen = frozen;
    if (this.#socket.connected) this.#socket.emit('freeze', { sub, frozen });
    this.#countPaused();
  }

  release(sub: string): void {
    if (this.#socket.connected) this.#socket.emit('release', { sub });
  }

  moveWindow(sub: string, window: Window): void {
    const subscription = this.#subscriptions.get(sub);
    if (subscription === undefined) return;
    subscription.query = { ...subscription.query, window };
    if (this.#socket.connected) this.#socket.emit('window', { sub, window });
  }

  #drop({ sub, users }: Subscription): void {
    if (users > 0) return;
    this.#subscriptions.delete(sub);
    if (this.#socket.connected) this.#socket.emit('unsubscribe', { sub });
    this.#cache.removeQueries({ queryKey: liveKey(sub) });
    this.#countPaused();
  }

  #ask(subscription: Subscription): void {
    if (!this.#socket.connected) return;
    subscription.asking = true;
    const { sub, query, frozen } = subscription;
    this.#socket.emit('subscribe', { sub, query, frozen }, (reply) => {
      if (!reply.ok) this.#link({ problem: reply.error.message });
    });
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('connect', () => {
      this.#link({ phase: 'connected' });
      if (document.hidden) socket.emit('hidden', { hidden: true });
      for (const subscription of this.#subscriptions.values()) this.#ask(subscription);
    });
    socket.on('disconnect', (reason) => {
      this.#link({ phase: 'disconnected' });
      // The server cut it: what one may do has changed. Coming again, one learns what it is now.
      if (reason === 'io server disconnect') socket.connect();
    });
    socket.on('connect_error', (error) => {
      // socket.active: it will try again by itself. Otherwise the server refused us, and says why.
      if (socket.active) this.#link({ phase: this.#current().phase === 'connecting' ? 'connecting' : 'disconnected' });
      else this.#link({ phase: 'refused', problem: error.message });
      if ((error as { data?: { code?: string } }).data?.code === 'signed-out') toLogin();
    });
    socket.on('hello', (hello) => {
      noteServerTime(hello.nowMs, Date.now());
      this.#link({ hello });
    });
    socket.on('heartbeat', (heartbeat) => {
      noteServerTime(heartbeat.nowMs, Date.now());
      const revision = laterRevision(heartbeat.revision, this.#current().revision);
      this.#link({ heartbeat, heardMs: Date.now(), revision });
    });
    socket.on('notice', (notice) => this.#link({ notice }));
    socket.on('failure', ({ message }) => this.#link({ problem: message }));
    socket.on('snapshot', (snapshot, ack) => this.#onSnapshot(snapshot, ack));
    socket.on('change', (change, ack) => this.#onChange(change, ack));
    document.addEventListener('visibilitychange', this.#onVisibility);
  }

  readonly #onVisibility = (): void => {
    if (this.#socket.connected) this.#socket.emit('hidden', { hidden: document.hidden });
  };

  #onSnapshot(snapshot: Snapshot<Row>, ack: () => void): void {
    const subscription = this.#subscriptions.get(snapshot.sub);
    if (subscription !== undefined) {
      subscription.asking = false;
      this.#cache.setQueryData<LiveView>(liveKey(snapshot.sub), snapshot);
      this.#noteRevision(snapshot.revision, false);
    }
    afterPaint(ack);
  }

  #onChange(change: Change<Row>, ack: () => void): void {
    const subscription = this.#subscriptions.get(change.sub);
    const view = this.#cache.getQueryData<LiveView>(liveKey(change.sub));
    if (subscription !== undefined && view !== undefined && !subscription.asking) {
      const next = applyChange(view, change);
      if (next === undefined) this.#ask(subscription);
      else {
        this.#cache.setQueryData<LiveView>(liveKey(change.sub), next);
        this.#noteRevision(
          change.revision,
          change.patch !== undefined || change.insert !== undefined || change.remove !== undefined,
        );
      }
    }
    afterPaint(ack);
  }

  #noteRevision(revision: string, changed: boolean): void {
    const later = laterRevision(revision, this.#current().revision);
    this.#link({ revision: later, ...(changed ? { changedMs: Date.now() } : {}) });
    this.#countPaused();
  }

  #countPaused(): void {
    let views = 0;
    let arrivals = 0;
    for (const { sub, frozen } of this.#subscriptions.values()) {
      if (!frozen) continue;
      views++;
      arrivals += this.#cache.getQueryData<LiveView>(liveKey(sub))?.newCount ?? 0;
    }
    const { paused } = this.#current();
    if (paused.views !== views || paused.arrivals !== arrivals) this.#link({ paused: { views, arrivals } });
  }

  #current(): Link {
    return this.#cache.getQueryData<Link>(LINK_KEY) ?? FIRST_LINK;
  }

  #link(part: Partial<Link>): void {
    this.#cache.setQueryData<Link>(LINK_KEY, (old) => ({ ...(old ?? FIRST_LINK), ...part }));
  }
}

function afterPaint(done: () => void): void {
  if (document.hidden) done();
  else requestAnimationFrame(() => setTimeout(done));
}
