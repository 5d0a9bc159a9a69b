import { readHistory, verifyHistory, type Violation } from '@leasehold/core/verify';
import type { Command } from 'commander';
import { run, type CommonOptions, type Session } from '../command.js';
import { EXIT } from '../exit.js';

interface VerifyFlags extends CommonOptions {
  readonly from?: string;
}

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('proves from etcd’s own history that no invariant was broken; exit code 1 when one was')
    .option('--from <revision>', 'begin there; default: the oldest revision that is not compacted')
    .action((_flags: object, command: Command) => {
      const options = command.optsWithGlobals<VerifyFlags>();
      return run(options, (session) => verify(session, options.from));
    });
}

async function verify({ client, out }: Session, from: string | undefined): Promise<number> {
  const { kv, keys } = client.store;
  const history = await readHistory(kv, keys, from === undefined ? {} : { from: BigInt(from) });
  const found: Violation[] = [];
  const checker = await verifyHistory(history, { namespace: keys.namespace, onViolation: (one) => found.push(one) });
  out.table(
    found.map(({ invariant, revision, message, keys: touched }) => ({
      invariant,
      revision: String(revision),
      message,
      keys: touched,
    })),
    [
      { title: 'invariant', text: ({ invariant }) => invariant },
      { title: 'revision', text: ({ revision }) => revision, right: true },
      { title: 'what', text: ({ message }) => message },
    ],
    `${checker.revisions} revisions, no violation`,
  );
  return found.length === 0 ? EXIT.ok : EXIT.failed;
}
