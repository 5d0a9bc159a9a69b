/** Which etcd and which namespace a command is about. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface PlaceOptions {
  readonly etcd?: string | undefined;
  readonly namespace?: string | undefined;
}

export interface Place {
  readonly endpoints: readonly string[];
  readonly namespace: string;
  /** Where the endpoints come from, for people who wonder. */
  readonly from: string;
}

/** What `leasehold up` leaves for the other commands, at `<home>/run.json`. */
export interface RunNote {
  readonly endpoints: readonly string[];
  readonly namespace: string;
  readonly url?: string | undefined;
  readonly pid: number;
}

export const DEFAULT_ENDPOINT = '127.0.0.1:2379';

export function notePath(home: string): string {
  return path.join(home, 'run.json');
}

/** First the flag, then the environment, then a Leasehold that runs here, then etcd's own default. */
export function findPlace(options: PlaceOptions, env: NodeJS.ProcessEnv, cwd: string): Place {
  const note = readNote(path.join(cwd, '.leasehold'));
  const namespace = options.namespace ?? env['LEASEHOLD_NAMESPACE'] ?? note?.namespace ?? 'default';
  const given = split(options.etcd);
  if (given.length > 0) return { endpoints: given, namespace, from: '--etcd' };
  const set = split(env['LEASEHOLD_ETCD_ENDPOINTS']);
  if (set.length > 0) return { endpoints: set, namespace, from: 'LEASEHOLD_ETCD_ENDPOINTS' };
  if (note !== undefined) return { endpoints: note.endpoints, namespace, from: 'leasehold up in this folder' };
  return { endpoints: [DEFAULT_ENDPOINT], namespace, from: 'the default' };
}

function split(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Undefined when nothing runs here: a note whose process is gone says nothing. */
function readNote(home: string): RunNote | undefined {
  try {
    const note = JSON.parse(readFileSync(notePath(home), 'utf8')) as RunNote;
    process.kill(note.pid, 0);
    return note;
  } catch {
    return undefined;
  }
}
