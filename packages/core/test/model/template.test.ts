import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Workflow } from '../../src/model/signature.js';
import { checkTemplate, fillTemplate, parametersOf } from '../../src/model/template.js';
import { toTypeScript } from '../../src/model/typescript.js';

const require = createRequire(import.meta.url);

const order: Workflow = {
  kind: 'chain',
  steps: [
    { kind: 'task', signature: { name: 'verify', args: [{ type: 'int64', value: '{{customer}}' }] } },
    {
      kind: 'group',
      members: [
        { kind: 'task', signature: { name: 'mail', args: [{ type: 'string', value: '{{address}}' }] } },
        { kind: 'task', signature: { name: 'audit', args: [{ type: 'int64', value: '{{customer}}' }] } },
      ],
      concurrency: 2,
    },
  ],
  onFailure: 'wait-all',
};

const check = (workflow: unknown) => checkTemplate({ title: 'Order', workflow }, {}, 1_700_000_000_000);

describe('a template', () => {
  it('has the holes of its arguments as parameters, each once, with its type', () => {
    expect(check(order).parameters).toEqual([
      { name: 'customer', type: 'int64' },
      { name: 'address', type: 'string' },
    ]);
  });

  it('filled is the workflow with those values; one that is missing or not known is refused by name', () => {
    const made = fillTemplate(check(order), { customer: '1152921504606846976', address: 'kim@example.com' });
    expect(JSON.stringify(made)).not.toContain('{{');
    expect(parametersOf(made)).toEqual([]);
    expect(() => fillTemplate(check(order), { customer: '1' })).toThrow('address');
    expect(() => fillTemplate(check(order), { customer: '1', address: 'a', more: 1 })).toThrow('more');
  });

  it('with one name for two types, or with something wrong beside its holes, is refused', () => {
    const two = { type: 'string', value: '{{customer}}' };
    const steps = [...order.steps, { kind: 'task', signature: { name: 'x', args: [two] } }];
    expect(() => check({ ...order, steps })).toThrow('int64 and for string');
    expect(() => check({ kind: 'chain', steps: [] })).toThrow();
    expect(() => check({ kind: 'task', signature: { name: '', args: [] } })).toThrow('name');
    expect(() => check({ kind: 'task', signature: { name: 'x', args: [{ type: 'int33', value: '{{a}}' }] } })).toThrow(
      'int33',
    );
  });

  it('keeps text that only looks like a hole', () => {
    const value = 'dear {{name}}, hello';
    expect(parametersOf({ kind: 'task', signature: { name: 'x', args: [{ type: 'string', value }] } })).toEqual([]);
  });
});

describe('a workflow as TypeScript', () => {
  it('compiles against this package, strictly, whatever is in it', () => {
    const hostile: Workflow = {
      kind: 'chord',
      header: [
        { kind: 'task', signature: { name: 'a `${x}` \u2028 "b"', args: [{ type: 'json', value: { __proto__: 1 } }] } },
        order,
      ],
      callback: { kind: 'task', signature: { name: 'done', args: [], retry: { count: 2 }, queue: 'q', priority: 3 } },
      onError: { kind: 'task', signature: { name: 'tell', args: [] } },
    };
    const problems = compile([toTypeScript(order), toTypeScript(hostile), toTypeScript(hostile.header[0] ?? order)]);
    expect(problems).toEqual([]);
  });

  it('that is wrong would be found: the compiler is really asked', () => {
    expect(compile([toTypeScript(order).replace('"int64"', '"int33"')])).not.toEqual([]);
  });
});

/** Beside this package, so that its name resolves to itself. */
function compile(programs: readonly string[]): readonly string[] {
  const folder = mkdtempSync(path.join(fileURLToPath(new URL('.', import.meta.url)), '.template-'));
  try {
    const files = programs.map((text, i) => {
      const file = path.join(folder, `program-${i}.mts`);
      writeFileSync(file, text);
      return file;
    });
    const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', '--pretty', 'false'];
    const target = ['--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    const tsc = path.join(path.dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
    const run = spawnSync(process.execPath, [tsc, ...flags, ...target, ...files], { encoding: 'utf8' });
    return run.status === 0 ? [] : `${run.stdout}${run.stderr}`.trim().split('\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
