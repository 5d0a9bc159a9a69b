import { afterAll, beforeAll, expect, test } from 'vitest';
import { Done, Problem, TemplateList } from '@leasehold/wire';
import { openWorld, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const workflow = {
  kind: 'task',
  signature: { name: 'mail', args: [{ type: 'string', value: '{{address}}' }] },
};
const list = async () => TemplateList.parse((await world.call('GET', '/templates')).body).rows;

test('a template is saved with its parameters, changed at the revision seen, and deleted; each act is audited', async () => {
  const key = { 'idempotency-key': 'save-1' };
  const body = { title: 'Mail somebody', workflow, revisionSeen: '0', reason: 'for the night shift' };
  const made = Done.parse((await world.call('POST', '/templates/mail-one', body, key)).body);
  expect(await list()).toMatchObject([
    { id: 'mail-one', title: 'Mail somebody', parameters: [{ name: 'address', type: 'string' }], workflow },
  ]);
  const stale = await world.call('POST', '/templates/mail-one', { ...body, title: 'Other' });
  expect(Problem.parse(stale.body).code).toBe('conflict');
  const changed = await world.call('POST', '/templates/mail-one', {
    ...body,
    title: 'Mail',
    revisionSeen: made.revision,
  });
  expect(changed.status).toBe(200);
  const [audit] = (await world.kv.range({ key: world.store.keys.audit('save-1') })).kvs;
  expect(JSON.parse(audit?.value ?? '{}')).toMatchObject({ operation: 'template.upsert', targets: ['mail-one'] });
  const gone = await world.call('POST', '/templates/mail-one/delete', { revisionSeen: changed.body['revision'] });
  expect(gone.status).toBe(200);
  expect(await list()).toEqual([]);
});

test('what could not be submitted is not saved, and the path of what is wrong is named', async () => {
  const save = (body: object) => world.call('POST', '/templates/wrong', { revisionSeen: '0', ...body });
  const steps = [workflow, { kind: 'task', signature: { name: '', args: [] } }];
  expect(Problem.parse((await save({ title: 'x', workflow: { kind: 'chain', steps } })).body)).toMatchObject({
    status: 400,
    field: 'steps[1].name',
  });
  expect(Problem.parse((await save({ title: '', workflow })).body).field).toBe('title');
  expect((await save({ title: 'x', workflow: 'y'.repeat(10) })).status).toBe(400);
  expect(await list()).toEqual([]);
});
