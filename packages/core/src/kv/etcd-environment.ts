/**
 * How a process reaches etcd, from its environment: never from arguments, which everybody on the machine can read. Secrets
 * may lie in files, as orchestrators mount them. The caller passes the environment; nothing is read at import.
 */
import { readFileSync } from 'node:fs';
import type { EtcdOptions } from './etcd-kv.js';
import { KvError } from './kv.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `LEASEHOLD_ETCD_CA`, `_CERT`, `_KEY`: PEM files; `LEASEHOLD_ETCD_USER` with `_PASSWORD` or `_PASSWORD_FILE`.
 * @throws KvError `invalid`, naming the variable and never its value.
 */
export function etcdFromEnvironment(env: Environment): Pick<EtcdOptions, 'credentials' | 'auth'> {
  const [ca, cert, key] = [pem(env, 'CA'), pem(env, 'CERT'), pem(env, 'KEY')];
  if ((cert === undefined) !== (key === undefined)) {
    throw new KvError('invalid', 'LEASEHOLD_ETCD_CERT and LEASEHOLD_ETCD_KEY: a client certificate needs both');
  }
  if (cert !== undefined && ca === undefined) {
    throw new KvError('invalid', 'LEASEHOLD_ETCD_CA: a client certificate needs the authority of the server too');
  }
  const auth = authOf(env);
  return {
    ...(ca === undefined
      ? {}
      : {
          credentials: {
            rootCertificate: ca,
            ...(cert === undefined || key === undefined ? {} : { certChain: cert, privateKey: key }),
          },
        }),
    ...(auth === undefined ? {} : { auth }),
  };
}

function authOf(env: Environment): EtcdOptions['auth'] {
  const username = env['LEASEHOLD_ETCD_USER'];
  const password = secretFromEnvironment(env, 'LEASEHOLD_ETCD_PASSWORD');
  if (username === undefined && password === undefined) return undefined;
  if (username !== undefined && username !== '' && password !== undefined) return { username, password };
  throw new KvError(
    'invalid',
    'LEASEHOLD_ETCD_USER: give it together with LEASEHOLD_ETCD_PASSWORD or ..._PASSWORD_FILE',
  );
}

/** `NAME`, or what the file that `NAME_FILE` names holds, without its last line break. */
export function secretFromEnvironment(env: Environment, name: string): string | undefined {
  const [plain, file] = [env[name], env[`${name}_FILE`]];
  if (plain !== undefined && file !== undefined)
    throw new KvError('invalid', `${name}: give it or ${name}_FILE, not both`);
  if (file === undefined) return plain === '' ? undefined : plain;
  const text = read(file, `${name}_FILE`)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (text !== '') return text;
  throw new KvError('invalid', `${name}_FILE: the file is empty`);
}

function pem(env: Environment, what: 'CA' | 'CERT' | 'KEY'): Buffer | undefined {
  const name = `LEASEHOLD_ETCD_${what}`;
  const file = env[name];
  if (file === undefined || file === '') return undefined;
  const bytes = read(file, name);
  if (bytes.includes('-----BEGIN ')) return bytes;
  throw new KvError('invalid', `${name}: the file is not PEM`);
}

function read(file: string, name: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new KvError('invalid', `${name}: the file cannot be read (${(error as NodeJS.ErrnoException).code ?? '?'})`);
  }
}
