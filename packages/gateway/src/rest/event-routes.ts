/** The change stream. */
import { EventPage, EventsQuery } from '@leasehold/wire';
import { route, type Route } from './route.js';

const readEvents = route({
  method: 'GET',
  url: '/events',
  permission: 'board.read',
  summary: 'Changes of keys in the order of revisions, whole transactions; waits for the next when asked to',
  query: EventsQuery,
  response: EventPage,
  run: ({ query, identity }, { events }) => events.read(query, identity.permissions.has('payload.read')),
});

export const EVENT_ROUTES: readonly Route[] = [readEvents];
