/** The real dashboard as a process of its own, and what it costs. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';
import type { BoardCost } from './board-monitor-main.js';

const APP = fileURLToPath(new URL('../../../apps/dashboard/', import.meta.url));

export class BoardProcess {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(endpoints: readonly string[], namespace: string): Promise<BoardProcess> {
    const main = path.join(APP, 'dist/main.js');
    if (!existsSync(main) || !existsSync(path.join(APP, '.next/BUILD_ID')))
      throw new Error('the dashboard is not built; run: npm run build');
    const monitor = pathToFileURL(fileURLToPath(new URL('./board-monitor-main.js', import.meta.url))).href;
    const child = fork(main, [], {
      execArgv: ['--import', monitor],
      env: {
        ...process.env,
        PORT: '0',
        LEASEHOLD_ETCD_ENDPOINTS: endpoints.join(','),
        LEASEHOLD_NAMESPACE: namespace,
        LEASEHOLD_ENVIRONMENT: 'bench',
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    return new BoardProcess(child, await addressOf(child));
  }

  /** Since the last call. */
  async cost(): Promise<BoardCost> {
    const answer = once(this.#child, 'message') as Promise<[BoardCost]>;
    this.#child.send('measure');
    return (await answer)[0];
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await gone;
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    const read = (data: Buffer): void => {
      output += data.toString();
      const url = /Leasehold: (http:\/\/\S+)/.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => reject(new Error(`the board ended with ${code}: ${output}`)));
  });
}
