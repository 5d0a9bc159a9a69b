/** At the start the server looks at its own settings and names what does not fit together. Findings are advice, not errors. */
import { stat } from 'node:fs/promises';
import { isLoopbackName } from '../guard/origin.js';
import type { ResolvedOptions } from '../options.js';
import { readUsers } from './users-file.js';

/** One sentence each, with what to do. @throws LeaseholdError `unreadable` for a users file that lets nobody in. */
export async function selfCheck(options: ResolvedOptions): Promise<readonly string[]> {
  const { access, allowedOrigins, allowedHosts, exposeWithoutAuth } = options;
  return [
    ...baseFindings(options),
    ...(await usersFindings(access.usersFile)),
    ...allowedOrigins
      .filter((origin) => !isOrigin(origin))
      .map((origin) => `allowedOrigins: "${origin}" can match nothing; write it like https://board.example.com`),
    ...allowedHosts
      .filter((host) => /[/*@]/.test(host))
      .map((host) => `allowedHosts: "${host}" can match nothing; write a name, or name:port`),
    ...(exposeWithoutAuth && access.required
      ? ['exposeWithoutAuth: has no effect, because people have to sign in; take it away']
      : []),
    ...(exposeWithoutAuth && !access.required
      ? ['exposeWithoutAuth: whoever reaches this port runs the fleet; set up a login']
      : []),
  ];
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

function baseFindings({ access }: ResolvedOptions): string[] {
  const { base, usersFile, oidc, proxy, secure } = access;
  const bySession = usersFile !== undefined || oidc !== undefined;
  const findings: string[] = [];
  if (bySession && base === undefined) {
    findings.push('baseUrl: not set, so cookies are not marked Secure; set it to where browsers reach the board');
  }
  if (bySession && base !== undefined && !secure && !isLoopbackName(base.hostname)) {
    findings.push(`baseUrl: passwords and cookies cross the network readable to ${base.host}; serve it by https`);
  }
  if (proxy !== undefined && proxy.secret === undefined) {
    findings.push('proxy: peers are believed by their client certificate, so this server must speak TLS itself');
  }
  return findings;
}

async function usersFindings(file: string | undefined): Promise<string[]> {
  if (file === undefined) return [];
  const users = await readUsers(file);
  const { mode } = await stat(file);
  return [
    ...(users.length === 0 ? [`users file ${file}: it is empty, so nobody can sign in; run "leasehold user add"`] : []),
    ...((mode & 0o007) === 0 ? [] : [`users file ${file}: everybody on this machine can read it; chmod 600`]),
  ];
}
