'use client';
import { useCallback, useMemo } from 'react';
import { useRows } from '../live/hooks';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** What people call a node: its host and the end of its id. An id that was chosen by hand is a name already. */
export function nodeName(id: string, host: string | undefined): string {
  if (!UUID.test(id)) return id;
  return `${host === undefined ? 'node' : (host.split('.')[0] ?? host)} · ${id.slice(-4)}`;
}

export function useNodeName(): (id: string) => string {
  const { view } = useRows('nodes');
  const hosts = useMemo(() => new Map((view?.rows ?? []).map((node) => [node.id, node.host])), [view]);
  return useCallback((id) => nodeName(id, hosts.get(id)), [hosts]);
}

/** `node:<id>` and `leader:<id>` with the node's name in place of its id; other actors as they are. */
export function useActorName(): (by: string) => string {
  const name = useNodeName();
  return useCallback(
    (by) => {
      const match = /^(node|leader):(.+)$/.exec(by);
      return match === null ? by : `${match[1]} ${name(match[2] ?? '')}`;
    },
    [name],
  );
}
