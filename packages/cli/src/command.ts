/** What every command is given, and how it ends. */
import { connect, isLeaseholdError, type Client } from '@leasehold/core';
import { connectEtcd, etcdFromEnvironment, KvError, type Kv } from '@leasehold/core/kv';
import { hostname, userInfo } from 'node:os';
import { exitCodeOf } from './exit.js';
import { makeOutput, toJson, type Output } from './output.js';
import { findPlace, type Place, type PlaceOptions } from './place.js';

export interface Session {
  readonly client: Client;
  readonly kv: Kv;
  readonly place: Place;
  readonly out: Output;
}

export interface CommonOptions extends PlaceOptions {
  readonly json?: boolean | undefined;
}

/** A person at a shell waits shorter for an etcd that is not there than a program would. */
const CALL_TIMEOUT_MS = 4_000;
const GIVE_UP_MS = 10_000;

/** Connects, runs, prints the error if there is one, and sets the exit code. */
export async function run(options: CommonOptions, action: (session: Session) => Promise<number | void>): Promise<void> {
  const out = makeOutput(options.json === true, process.stdout, process.env);
  let client: Client | undefined;
  let kv: Kv | undefined;
  try {
    const place = findPlace(options, process.env, process.cwd());
    kv = connectEtcd({
      endpoints: place.endpoints,
      defaultTimeoutMs: CALL_TIMEOUT_MS,
      ...etcdFromEnvironment(process.env),
    });
    const commit = { giveUpMs: GIVE_UP_MS, requestTimeoutMs: CALL_TIMEOUT_MS };
    client = connect({ kv, namespace: place.namespace, name: whoAmI(), commit });
    await requireStore(kv, place);
    process.exitCode = (await action({ client, kv, place, out })) ?? 0;
  } catch (error) {
    report(error, out);
    process.exitCode = exitCodeOf(error);
  } finally {
    await client?.close();
    await kv?.close();
  }
}

/** Says where it looked: "unavailable" alone helps nobody. */
async function requireStore(kv: Kv, place: Place): Promise<void> {
  try {
    await kv.range({ key: '/leasehold/', limit: 1, keysOnly: true });
  } catch (error) {
    if (!(error instanceof KvError) || (error.code !== 'unavailable' && error.code !== 'timeout')) throw error;
    const where = `etcd at ${place.endpoints.join(', ')} (from ${place.from}) does not answer`;
    throw new KvError(error.code, `${where}; start one with "leasehold up", or name another with --etcd`, {
      cause: error,
    });
  }
}

export function report(error: unknown, out: Output): void {
  const message = error instanceof Error ? error.message : String(error);
  if (!out.json) return void process.stderr.write(`leasehold: ${message}\n`);
  const known = isLeaseholdError(error) || error instanceof KvError;
  const fields = isLeaseholdError(error) ? error.fields : {};
  process.stderr.write(`${toJson({ error: { code: known ? error.code : 'error', message, ...fields } })}\n`);
}

/** Who submits and acts, as records show it. */
function whoAmI(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return hostname();
  }
}
