/** Secrets are typed or piped in: what stands in an argument is in the shell's history and in the list of processes. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { LeaseholdError } from '@leasehold/core';

/** From a terminal: asked for twice, and not shown. From a pipe: its first line. */
export async function readSecret(what: string, input: NodeJS.ReadStream, output: NodeJS.WriteStream): Promise<string> {
  if (!input.isTTY) return firstLine(input);
  const first = await ask(`${what}: `, input, output);
  const second = await ask(`${what} again: `, input, output);
  if (first === second) return first;
  throw new LeaseholdError('invalid', `the two are not the same; nothing was changed`, { field: 'password' });
}

function ask(question: string, input: NodeJS.ReadStream, output: NodeJS.WriteStream): Promise<string> {
  output.write(question);
  // readline echoes what is typed to its output; this one goes nowhere.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: silent, terminal: true });
  return new Promise((resolve, reject) => {
    lines.once('SIGINT', () => {
      lines.close();
      reject(new LeaseholdError('invalid', 'given up; nothing was changed', {}));
    });
    lines.question('', (answer) => {
      lines.close();
      output.write('\n');
      resolve(answer);
    });
  });
}

const BYTES_MAX = 4_096;

async function firstLine(input: NodeJS.ReadStream): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += String(chunk);
    if (text.includes('\n') || text.length > BYTES_MAX) break;
  }
  return text.split(/\r?\n/, 1)[0] ?? '';
}
