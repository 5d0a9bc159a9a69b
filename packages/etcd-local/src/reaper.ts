import { spawn } from 'node:child_process';

/**
 * Ends an etcd whose starter was killed hard and so could not end it. A tiny shell waits on a pipe that only this process holds open; when the
 * pipe closes, whatever the cause, it kills the etcd and removes `temporary`, if there is one.
 * Gives the function that dismisses it, to be called once the etcd has gone (its pid may soon be another's).
 */
export function guardAgainstOwnDeath(pid: number, temporary: string | undefined): () => void {
  if (process.platform === 'win32') return () => undefined;
  const script = 'read -r _; kill -KILL "$1" 2>/dev/null; [ -z "$2" ] || { sleep 1; rm -rf -- "$2"; }';
  const shell = spawn('/bin/sh', ['-c', script, 'leasehold-reaper', String(pid), temporary ?? ''], {
    // Its own process group: Ctrl-C in a terminal must not end it before its work is done.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  if ('unref' in shell.stdin && typeof shell.stdin.unref === 'function') shell.stdin.unref();
  return () => shell.kill('SIGKILL');
}
