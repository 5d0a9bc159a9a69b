/** Templates as operators handle them: each act is one guarded transaction with its audit record. */
import { prefixEnd, type KeyValue } from '../kv/kv.js';
import { decodeRecord, encodeRecord } from '../model/codec.js';
import { LeaseholdError } from '../model/errors.js';
import { checkId } from '../model/ids.js';
import { utf8Length } from '../model/json.js';
import { actorText } from '../model/records.js';
import { checkTemplate, TEMPLATE_LIMITS, type TemplateRecord } from '../model/template.js';
import type { SignatureDefaults } from '../model/validate.js';
import { act, type Operated } from './operate.js';
import { pages } from './pages.js';
import { del, put, type OperatorCall, type Store } from './store.js';

export interface TemplateInput {
  readonly id: string;
  readonly title: unknown;
  readonly workflow: unknown;
}

/** Makes a template or changes one. @throws LeaseholdError `invalid`, `too-large`, `conflict`. */
export async function upsertTemplate(
  store: Store,
  call: OperatorCall,
  input: TemplateInput,
  defaults: SignatureDefaults = {},
): Promise<Operated> {
  const id = checkId(input.id, 'id', TEMPLATE_LIMITS.idBytes);
  const checked = checkTemplate(input, defaults, store.now());
  const key = store.keys.template(id);
  return act(store, call, 'template.upsert', { key, id, what: 'template' }, (kv) => {
    const nowMs = store.now();
    const createdMs = kv === undefined ? nowMs : decodeTemplate(kv).createdMs;
    const record: TemplateRecord = { id, ...checked, by: actorText(call.actor), createdMs, updatedMs: nowMs };
    const encoded = encodeRecord(record);
    const size = utf8Length(encoded);
    if (size > TEMPLATE_LIMITS.recordBytes) {
      const problem = `the template has ${size} bytes of ${TEMPLATE_LIMITS.recordBytes}; make it smaller`;
      throw new LeaseholdError('too-large', problem, { id, size, limit: TEMPLATE_LIMITS.recordBytes });
    }
    const detail = { title: checked.title, created: kv === undefined, parameters: checked.parameters.length };
    return { compare: [], ops: [put(key, encoded)], detail };
  });
}

/** @throws LeaseholdError `not-found`, `conflict`. */
export function deleteTemplate(store: Store, call: OperatorCall, id: string): Promise<Operated> {
  const key = store.keys.template(id);
  return act(store, call, 'template.delete', { key, id, what: 'template' }, (kv) => {
    if (kv === undefined) throw new LeaseholdError('not-found', `there is no template ${id}`, { id });
    return { compare: [], ops: [del(key)], detail: { title: decodeTemplate(kv).title } };
  });
}

export interface SeenTemplate {
  readonly record: TemplateRecord;
  readonly revision: bigint;
}

/** All templates, by id. */
export async function listTemplates(store: Store): Promise<readonly SeenTemplate[]> {
  const prefix = store.keys.kind('templates');
  const all: SeenTemplate[] = [];
  for await (const page of pages(store, { key: prefix, rangeEnd: prefixEnd(prefix) }, { limit: 50 })) {
    for (const kv of page) all.push({ record: decodeTemplate(kv), revision: kv.modRevision });
  }
  return all;
}

function decodeTemplate(kv: Pick<KeyValue, 'value'>): TemplateRecord {
  return decodeRecord<TemplateRecord>(kv.value, 'template');
}
