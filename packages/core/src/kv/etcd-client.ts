import { Quota } from './etcd-quota.js';
import { closedError, type Call, type Endpoint, Endpoints } from './etcd-endpoints.js';
import { KeepAlives } from './etcd-keepalive.js';
import { EtcdWatch } from './etcd-watch.js';
import { decodeRange, decodeTxn } from './etcd-decode.js';
import { encodeRange, encodeTxn } from './etcd-encode.js';
import { hexId, type WireHeader } from './etcd-wire.js';
import { KvError } from './kv.js';
import type {
  CallOptions,
  Kv,
  KvAlarm,
  KvMember,
  KvStatus,
  LeaseId,
  LeaseStatus,
  RangeRequest,
  RangeResult,
  Revision,
  Txn,
  TxnResult,
  WatchHandle,
  WatchMessage,
  WatchRequest,
} from './kv.js';
import { requireFit } from './request-size.js';

interface WireStatus {
  readonly header: WireHeader;
  readonly version: string;
  readonly leader: string;
  readonly dbSize: string;
  readonly dbSizeInUse?: string;
}

interface WireMember {
  readonly ID: string;
  readonly name: string;
  readonly clientURLs: readonly string[];
  readonly peerURLs: readonly string[];
  readonly isLearner?: boolean;
}

/** The seven verbs of `Kv` on etcd's services. Streams have files of their own. */
export class EtcdKv implements Kv {
  readonly #endpoints: Endpoints;
  readonly #quota = new Quota();
  readonly #keepAlives: KeepAlives;
  readonly #watches = new Set<EtcdWatch>();
  readonly #defaultTimeoutMs: number;

  constructor(endpoints: readonly Endpoint[], defaultTimeoutMs: number) {
    this.#endpoints = new Endpoints(endpoints, defaultTimeoutMs);
    this.#keepAlives = new KeepAlives(this.#endpoints);
    this.#defaultTimeoutMs = defaultTimeoutMs;
  }

  async range(request: RangeRequest, options?: CallOptions): Promise<RangeResult> {
    return decodeRange(await this.#read<Buffer>('KV', 'range', encodeRange(request), options));
  }

  async txn(txn: Txn, options?: CallOptions): Promise<TxnResult> {
    const request = encodeTxn(txn);
    requireFit(request.length);
    const write = writesAnything(txn);
    return decodeTxn(await this.#endpoints.call<Buffer>({ service: 'KV', method: 'txn', request, write }, options));
  }

  watch(request: WatchRequest, onMessage: (message: WatchMessage) => void): WatchHandle {
    if (this.#endpoints.closed) {
      queueMicrotask(() => onMessage({ kind: 'closed', cause: closedError(false) }));
      return { requestProgress: () => undefined, close: () => undefined };
    }
    const onEnd = (ended: EtcdWatch): void => void this.#watches.delete(ended);
    const watch = new EtcdWatch(this.#endpoints, request, { onMessage, onEnd });
    this.#watches.add(watch);
    return watch;
  }

  async leaseGrant(ttlS: number, options?: CallOptions): Promise<{ id: LeaseId; ttlS: number }> {
    const request = { TTL: Math.ceil(ttlS), ID: 0 };
    const { ID, TTL } = await this.#write<{ ID: string; TTL: string }>('Lease', 'leaseGrant', request, options);
    return { id: BigInt(ID), ttlS: Number(TTL) };
  }

  leaseKeepAlive(id: LeaseId, options: CallOptions = {}): Promise<{ ttlS: number }> {
    return this.#keepAlives.renew(id, options.timeoutMs ?? this.#defaultTimeoutMs, options.signal);
  }

  async leaseRevoke(id: LeaseId, options?: CallOptions): Promise<void> {
    const revoke = this.#write('Lease', 'leaseRevoke', { ID: id.toString() }, options);
    await unless(revoke, 'lease-not-found');
  }

  async leaseStatus(id: LeaseId, options?: CallOptions): Promise<LeaseStatus> {
    const request = { ID: id.toString(), keys: true };
    const wire = await this.#read<{ TTL: string; grantedTTL: string; keys: readonly Buffer[] }>(
      'Lease',
      'leaseTimeToLive',
      request,
      options,
    );
    const keys = [...wire.keys].sort(Buffer.compare).map((key) => key.toString());
    return { id, ttlS: Number(wire.TTL), grantedTtlS: Number(wire.grantedTTL), keys };
  }

  async compact(revision: Revision, options?: CallOptions): Promise<void> {
    await unless(this.#write('KV', 'compact', { revision: revision.toString() }, options), 'compacted');
  }

  async status(options?: CallOptions): Promise<KvStatus> {
    const { header, version, leader, dbSize, dbSizeInUse } = await this.#read<WireStatus>(
      'Maintenance',
      'status',
      {},
      options,
    );
    const quotaBytes = this.#quota.bytes(this.#endpoints.current.address);
    return {
      clusterId: hexId(header.cluster_id),
      memberId: hexId(header.member_id),
      version,
      revision: BigInt(header.revision),
      leaderId: hexId(leader),
      dbSizeBytes: Number(dbSize),
      dbSizeInUseBytes: Number(dbSizeInUse ?? dbSize),
      raftTerm: header.raft_term,
      ...(quotaBytes === undefined ? {} : { quotaBytes }),
    };
  }

  async members(options?: CallOptions): Promise<readonly KvMember[]> {
    const { members } = await this.#read<{ members: readonly WireMember[] }>('Cluster', 'memberList', {}, options);
    return members.map(({ ID, name, clientURLs, peerURLs, isLearner }) => ({
      id: hexId(ID),
      name,
      clientUrls: clientURLs,
      peerUrls: peerURLs,
      isLearner: isLearner ?? false,
    }));
  }

  async alarms(options?: CallOptions): Promise<readonly KvAlarm[]> {
    const request = { action: ALARM_GET, memberID: 0, alarm: 0 };
    const { alarms } = await this.#read<{ alarms: readonly { memberID: string; alarm: string }[] }>(
      'Maintenance',
      'alarm',
      request,
      options,
    );
    return alarms.map(({ memberID, alarm }) => ({ memberId: hexId(memberID), alarm: ALARMS[alarm] ?? 'other' }));
  }

  close(): Promise<void> {
    this.#quota.close();
    this.#endpoints.beginClose();
    for (const watch of this.#watches) watch.clientClosed();
    this.#keepAlives.close();
    this.#endpoints.close();
    return Promise.resolve();
  }

  #read<T>(service: Call['service'], method: string, request: object, options: CallOptions | undefined): Promise<T> {
    return this.#endpoints.call<T>({ service, method, request, write: false }, options);
  }

  #write<T>(service: Call['service'], method: string, request: object, options: CallOptions | undefined): Promise<T> {
    return this.#endpoints.call<T>({ service, method, request, write: true }, options);
  }
}

const ALARM_GET = 0;
const ALARMS: Readonly<Record<string, KvAlarm['alarm']>> = { Nospace: 'nospace', Corrupt: 'corrupt' };

function writesAnything(txn: Txn): boolean {
  return writes(txn.success) || (txn.failure !== undefined && writes(txn.failure));
}

function writes(ops: Txn['success']): boolean {
  return ops.some((op) => (op.kind === 'txn' ? writesAnything(op.txn) : op.kind !== 'range'));
}

/** Waits for `call`; a failure with this code counts as done. */
async function unless(call: Promise<unknown>, code: KvError['code']): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof KvError && error.code === code)) throw error;
  }
}
