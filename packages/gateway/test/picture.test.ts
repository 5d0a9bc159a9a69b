import { describe, expect, test } from 'vitest';
import { compileWorkflow, type TaskState, type Workflow } from '@leasehold/core/model';
import { pictureOf } from '../src/projection/picture.js';

const task = (name: string): Workflow => ({ kind: 'task', signature: { name, args: [] } });
const many = (count: number, make: (i: number) => Workflow): Workflow[] =>
  Array.from({ length: count }, (_, i) => make(i));
const draw = (workflow: Workflow, stateOf: (id: string) => TaskState | undefined = () => undefined) =>
  pictureOf(compileWorkflow('w', workflow), stateOf);

describe('the picture of a workflow', () => {
  test('a small one is drawn whole, each task with its id', () => {
    const picture = draw({
      kind: 'chain',
      steps: [task('a'), { kind: 'group', members: many(7, () => task('b')) }, task('c')],
    });
    expect(picture?.nodes).toHaveLength(9);
    expect(picture?.nodes.every((node) => node.count === 1 && node.taskId !== undefined)).toBe(true);
    expect(picture?.edges).toHaveLength(14);
  });

  test('report B5: a group of 5 000 like chains is one node a step, with its states counted', () => {
    const chain = (): Workflow => ({ kind: 'chain', steps: [task('fetch'), task('parse')] });
    const workflow: Workflow = {
      kind: 'chain',
      steps: [task('plan'), { kind: 'group', members: many(4_999, chain) }, task('end')],
    };
    let seen = 0;
    const picture = draw(workflow, () => (seen++ % 2 === 0 ? 'SUCCESS' : 'PENDING'));
    expect(picture?.nodes.map(({ name, count }) => [name, count])).toEqual([
      ['plan', 1],
      ['fetch', 4_999],
      ['parse', 4_999],
      ['end', 1],
    ]);
    expect(picture?.edges).toHaveLength(3);
    const fetched = picture?.nodes[1];
    expect((fetched?.states.SUCCESS ?? 0) + (fetched?.states.PENDING ?? 0)).toBe(4_999);
    expect(fetched?.taskId).toBeUndefined();
  });

  test('the odd one out keeps a node of its own', () => {
    const members = [...many(200, () => task('same')), task('odd')];
    const picture = draw({ kind: 'group', members });
    expect(picture?.nodes.map(({ name, count }) => [name, count])).toEqual([
      ['same', 200],
      ['odd', 1],
    ]);
  });

  test('two like groups in a row are two nodes: no kind waits for itself', () => {
    const group = (): Workflow => ({ kind: 'group', members: many(100, () => task('x')) });
    const picture = draw({ kind: 'chain', steps: [group(), group(), group()] });
    expect(picture?.nodes).toHaveLength(3);
    const order = picture?.nodes.map(({ id }) => id) ?? [];
    expect(picture?.edges.every(([from, to]) => order.indexOf(from) < order.indexOf(to))).toBe(true);
  });

  test('a chain of 5 000 is too long to be drawn, and is not recursed into', () => {
    expect(draw({ kind: 'chain', steps: many(5_000, (i) => task(`s${i}`)) })).toBeUndefined();
  });
});
