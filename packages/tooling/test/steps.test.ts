import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseSteps, steps } from '../scripts/steps.mjs';

describe('the steps of npm test', () => {
  it('are all run by default, and only the named ones on request, in their own order', () => {
    const names = (chosen: { name: string }[]): string[] => chosen.map(({ name }) => name);
    expect(names(chooseSteps(undefined))).toEqual(names(steps));
    expect(names(chooseSteps('e2e, unit'))).toEqual(['unit', 'e2e']);
  });

  it('refuse a name that is none of them', () => {
    expect(() => chooseSteps('unti')).toThrow(/no such step: unti/);
  });

  it('name scripts and turbo tasks that exist', () => {
    const root = path.resolve(import.meta.dirname, '../../..');
    const read = (file: string): Record<string, Record<string, unknown>> =>
      JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Record<string, Record<string, unknown>>;
    for (const step of steps) {
      if (step.script !== undefined) expect(read('package.json')['scripts']).toHaveProperty(step.script);
      if (step.turbo !== undefined) expect(read('turbo.json')['tasks']).toHaveProperty(step.turbo);
    }
  });

  it('come after those that they need', () => {
    const names = steps.map(({ name }) => name);
    for (const [index, { needs }] of steps.entries()) {
      if (needs !== undefined) expect(names.slice(0, index)).toContain(needs);
    }
  });
});
