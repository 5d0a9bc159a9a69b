/** Saved workflows: kept in etcd, so that every server and every operator has the same ones. */
import { deleteTemplate, listTemplates, upsertTemplate } from '@leasehold/core/store';
import { DeleteTemplate, Done, TemplateList, UpsertTemplate } from '@leasehold/wire';
import { IdParams, operatorCall, route, type Route } from './route.js';

const listAll = route({
  method: 'GET',
  url: '/templates',
  // What is in them are arguments, as somebody typed them.
  permission: 'workflow.submit',
  summary: 'Saved workflows with their parameters',
  response: TemplateList,
  run: async (_call, { store }) => {
    const all = await listTemplates(store);
    return { rows: all.map(({ record, revision }) => ({ ...record, revision: revision.toString() })) };
  },
});

const putOne = route({
  method: 'POST',
  url: '/templates/:id',
  permission: 'template.write',
  summary: 'Save a workflow, or change a saved one; `{{name}}` as the whole value of an argument makes it a parameter',
  params: IdParams,
  body: UpsertTemplate,
  response: Done,
  run: async (call, { store }) => {
    const { id } = call.params;
    const { title, workflow } = call.body;
    const { revision } = await upsertTemplate(store, operatorCall(call, call.body), { id, title, workflow });
    return { id, revision: revision.toString() };
  },
});

const deleteOne = route({
  method: 'POST',
  url: '/templates/:id/delete',
  permission: 'template.write',
  summary: 'Delete a saved workflow; what was submitted from it goes on',
  params: IdParams,
  body: DeleteTemplate,
  response: Done,
  run: async (call, { store }) => {
    const { id } = call.params;
    const { revision } = await deleteTemplate(store, operatorCall(call, call.body), id);
    return { id, revision: revision.toString() };
  },
});

export const TEMPLATE_ROUTES: readonly Route[] = [listAll, putOne, deleteOne];
