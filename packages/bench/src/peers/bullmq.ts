/** BullMQ on Redis, at its best: bulk adds, and the concurrency that was fastest on this machine. */
import { Queue, QueueEvents, Worker, type Job } from 'bullmq';
import { createRequire } from 'node:module';
import type { MakeMember } from '../crew-main.js';
import type { OpenSystem, System } from '../system.js';
import { startRedis, type Fsync, type RedisProgram } from './redis.js';

const QUEUE = 'bench';
const CHUNK = 1_000;
const ADDS_AT_ONCE = 2;
const { version } = createRequire(import.meta.url)('bullmq/package.json') as { version: string };

export function bullmqSystem(program: RedisProgram, fsync: Fsync, tasks: number, concurrency: number): System {
  return {
    name: `bullmq, fsync ${fsync}`,
    tasks,
    conditions: { bullmq: version, redis: program.version, appendfsync: fsync, concurrency, 'jobs an addBulk': CHUNK },
    async open(): Promise<OpenSystem> {
      const redis = await startRedis(program, fsync);
      const connection = { host: '127.0.0.1', port: redis.port };
      const queue = new Queue(QUEUE, { connection });
      const events = new QueueEvents(QUEUE, { connection });
      await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
      return {
        job: { kind: 'bullmq', settings: { port: redis.port, concurrency } },
        submit: (count) => addAll(queue, count),
        one: async () => {
          const job = await queue.add('stamp', { a: 1, b: 'x' }, { attempts: 4 });
          return BigInt((await job.waitUntilFinished(events, 30_000)) as string);
        },
        close: async () => {
          await events.close();
          await queue.close();
          await redis.stop();
        },
      };
    },
  };
}

async function addAll(queue: Queue, count: number): Promise<void> {
  const opts = { attempts: 4, backoff: { type: 'fixed', delay: 1_000 } };
  let left = count;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      const chunk = Math.min(CHUNK, left);
      left -= chunk;
      await queue.addBulk(Array.from({ length: chunk }, () => ({ name: 'noop', data: { a: 1, b: 'x' }, opts })));
    }
  };
  await Promise.all(Array.from({ length: ADDS_AT_ONCE }, lane));
}

export const bullmqMember: MakeMember = async (settings, ended) => {
  const connection = { host: '127.0.0.1', port: settings['port'] as number };
  const concurrency = settings['concurrency'] as number;
  const run = ({ name }: Job): Promise<number | string> =>
    Promise.resolve(name === 'stamp' ? process.hrtime.bigint().toString() : 2);
  const worker = new Worker(QUEUE, run, { connection, concurrency, autorun: false });
  worker.on('completed', ended);
  worker.on('error', (error) => process.stderr.write(`bullmq: ${error.message}\n`));
  await worker.waitUntilReady();
  return { go: () => void worker.run(), stop: () => worker.close(true) };
};
