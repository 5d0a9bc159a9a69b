/**
 * Every parser that meets foreign bytes, given anything: it answers or refuses, in bounded time, throws nothing but our own
 * errors, and leaves the prototypes alone.
 */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import {
  checkWorkflow,
  fromMachinery,
  isLeaseholdError,
  Keys,
  LIMITS,
  nextFire,
  normalizeWorkflow,
  parseCron,
  parseGoDuration,
  type Workflow,
} from '@leasehold/core/model';
import { AuditQuery, Handshake, LoginBody, Subscribe, TaskListQuery, MoveWindow } from '@leasehold/wire';
import { checkHost, checkOrigin } from '../src/guard/origin.js';
import { redactJson, redactText } from '../src/guard/redact.js';
import { cookieName, readCookie } from '../src/auth/cookies.js';
import { readPending, safePath } from '../src/auth/login-routes.js';
import { isPasswordHash } from '../src/auth/password.js';
import { identityByProxy } from '../src/auth/proxy.js';
import { bearerOf } from '../src/auth/tokens.js';
import { parseLossless } from '../src/rest/lossless.js';
import { decodeCursor, filterOfQuery, orderOfQuery } from '../src/rest/paging.js';

const RUNS = { numRuns: 400 };
/** Far above what any of them takes; a pattern that backtracks takes minutes. */
const MOST_MS = 400;

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ maxLength: 200 }),
  fc.constantFrom('__proto__', 'constructor', 'prototype', '\0', '%', '%ff', '..', '\u202e', '\ud800', 'toString'),
  fc
    .tuple(fc.constantFrom('a', ';', '=', '*', ',', '%2', ' ', '[', '{"a":', '<', 'eyJ', '-----BEGIN '), fc.nat(20_000))
    .map(([unit, n]) => unit.repeat(n)),
);
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, -0, 1e308, 9_007_199_254_740_993n.toString()),
    fc.double(),
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(
        fc.tuple(
          fc.oneof(
            text,
            fc.constantFrom('name', 'args', 'kind', 'signature', 'steps', 'Name', 'Args', 'queue', 'filter', 'view'),
          ),
          tie('value'),
        ),
        { maxLength: 5 },
      )
      .map(
        (entries) =>
          JSON.parse(
            `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value) ?? 'null'}`).join(',')}}`,
          ) as unknown,
      ),
  ),
})).value;

/** Whatever it is given: an answer, or one of the errors it may throw; soon. */
function survives(run: () => unknown, also: (error: unknown) => boolean = () => false): void {
  const beganMs = performance.now();
  try {
    run();
  } catch (error) {
    const known = isLeaseholdError(error) || (error instanceof Error && error.name === 'ProblemError') || also(error);
    if (!known) throw error;
  }
  expect(performance.now() - beganMs).toBeLessThan(MOST_MS);
}

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

describe('foreign bytes', () => {
  test('a body that is no JSON is refused, and one that is becomes plain data', () => {
    fc.assert(
      fc.property(text, (given) =>
        survives(
          () => parseLossless(given),
          (error) => error instanceof SyntaxError,
        ),
      ),
      RUNS,
    );
    fc.assert(
      fc.property(json, (given) =>
        survives(
          () => parseLossless(JSON.stringify(given)),
          (error) => error instanceof SyntaxError,
        ),
      ),
      RUNS,
    );
    const polluting = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    survives(
      () => redactJson(parseLossless(polluting) as never),
      (error) => error instanceof SyntaxError,
    );
  });

  test('signatures and workflows, ours and Machinery’s', () => {
    fc.assert(
      fc.property(json, (given) => {
        survives(() => checkWorkflow(given as Workflow, LIMITS));
        survives(() => normalizeWorkflow({ kind: 'task', signature: given } as Workflow, {}, 0, LIMITS));
        survives(() => normalizeWorkflow({ kind: 'chain', steps: [given] } as unknown as Workflow, {}, 0, LIMITS));
        survives(() => fromMachinery(given));
      }),
      RUNS,
    );
    let deep: unknown = { kind: 'task', signature: { name: 'x', args: [] } };
    for (let n = 0; n < 5_000; n++) deep = { kind: 'chain', steps: [deep] };
    survives(() => checkWorkflow(deep as Workflow, LIMITS));
  });

  test('cron expressions', () => {
    const part = fc.constantFrom(
      '*',
      '*/0',
      '1-59/7',
      '60',
      'L',
      '#5',
      'MON-FRI',
      '?',
      '-1',
      '99999999999',
      '1,'.repeat(500),
    );
    const expression = fc.oneof(
      text,
      fc.array(part, { maxLength: 8 }).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(expression, fc.oneof(text, fc.constantFrom('UTC', 'Asia/Seoul')), (spec, zone) => {
        survives(() => parseCron(spec));
        survives(() => parseGoDuration(spec));
        survives(() => nextFire(spec, zone, 0));
      }),
      RUNS,
    );
  });

  test('filters, sorts and cursors of addresses', () => {
    const query = fc.dictionary(
      fc.oneof(text, fc.constantFrom('state', 'name', 'queue', 'q', 'limit', 'cursor', 'sort', 'from', 'tag')),
      fc.oneof(text, fc.array(text, { maxLength: 3 })),
      { maxKeys: 6 },
    );
    fc.assert(
      fc.property(query, text, (given, cursor) => {
        const read = TaskListQuery.safeParse(given);
        if (read.success) {
          expect(read.data.limit).toBeLessThanOrEqual(500);
          survives(() => filterOfQuery(read.data));
        }
        survives(() => orderOfQuery(cursor));
        survives(() => decodeCursor(cursor, 'number'));
        AuditQuery.safeParse(given);
      }),
      RUNS,
    );
    expect(TaskListQuery.safeParse({ q: 'x'.repeat(10_000) }).success).toBe(false);
  });

  test('cookies, tokens, hosts, origins, proxy headers, password hashes, ways back', () => {
    const proxy = {
      userHeader: 'x-user',
      groupsHeader: 'x-groups',
      roles: { ops: 'admin' },
      secret: 'a shared secret of some length',
    };
    fc.assert(
      fc.property(text, text, (a, b) => {
        survives(() => readCookie(a, cookieName('session', { secure: false })));
        survives(() => bearerOf(`Bearer ${a}`));
        survives(() => readPending(a));
        survives(() => readPending(Buffer.from(a).toString('base64url')));
        survives(() => isPasswordHash(a));
        survives(() => checkHost({ host: a }, { allowedHosts: [b], allowedOrigins: [] }));
        survives(() => checkOrigin({ origin: a, host: b }, { allowedHosts: [], allowedOrigins: [] }));
        const headers = { 'x-user': a, 'x-groups': b, 'x-leasehold-proxy-secret': a };
        expect(identityByProxy(proxy, { headers, address: b })).toBeUndefined();
        expect(safePath(a)).toMatch(/^\/(?![/\\])/);
        LoginBody.safeParse({ user: a, password: b });
      }),
      RUNS,
    );
    expect(checkHost({ host: '__proto__' }, { allowedHosts: [], allowedOrigins: [] })?.code).toBe('bad-host');
  });

  test('messages of sockets', () => {
    fc.assert(
      fc.property(json, (given) => {
        survives(() => Subscribe.safeParse(given));
        survives(() => Subscribe.safeParse({ sub: 's', query: given }));
        survives(() => MoveWindow.safeParse({ sub: 's', window: given }));
        survives(() => Handshake.safeParse(given));
      }),
      RUNS,
    );
  });

  test('keys of etcd, which others may write too', () => {
    const keys = new Keys('ns');
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 6 }), (key, parts) => {
        survives(() => keys.parse(key));
        survives(() => keys.parse(keys.prefix + parts.join('/')));
      }),
      RUNS,
    );
  });

  test('whatever is redacted stays what it is, in a time that grows with its length only', () => {
    fc.assert(
      fc.property(json, text, (value, line) => {
        survives(() => redactJson(value as never));
        survives(() => redactText(line));
      }),
      RUNS,
    );
    survives(() => redactText('password='.repeat(20_000)));
  });
});
