'use client';
import { type HandlerList, type HandlerView } from '@leasehold/wire';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { call } from '../api/call';
import { paths } from '../api/paths';
import { useRows } from '../live/hooks';

export type Handler = HandlerList['handlers'][number];

/** What the live workers advertise now: read again whenever a node comes, goes or changes. */
export function useHandlers() {
  const { view } = useRows('nodes');
  const nodes = (view?.rows ?? [])
    .filter((node) => node.departedMs === undefined)
    .map((node) => node.id)
    .join(' ');
  const query = useQuery({
    queryKey: ['handlers', nodes],
    queryFn: ({ signal }) => call({ answer: 'HandlerList', path: paths.handlers(), signal }),
    placeholderData: (old) => old,
  });
  const handlers = query.data?.handlers;
  const byName = useMemo(() => new Map((handlers ?? []).map((handler) => [handler.name, handler])), [handlers]);
  return { ...query, handlers, byName };
}

/** `sku string, quantity int → int64` */
export function signatureText({ args, variadic, results }: HandlerView): string {
  const given = [
    ...args.map(({ name, type, optional }) => `${name}${optional === true ? '?' : ''} ${type}`),
    ...(variadic === undefined ? [] : [`…${variadic}`]),
  ];
  return `(${given.join(', ')})${results.length === 0 ? '' : ` → ${results.join(', ')}`}`;
}
