/** Progress lines for people, each with the seconds since the start, so that a slow step shows. */
export interface Report {
  step(message: string): void;
  trouble(message: string, details?: readonly string[]): void;
}

export function makeReport(write: (text: string) => void, now: () => number = () => performance.now()): Report {
  const began = now();
  const stamp = (): string => `[${((now() - began) / 1000).toFixed(1).padStart(6)} s]`;
  return {
    step: (message) => write(`${stamp()} ${message}\n`),
    trouble: (message, details = []) => {
      const indented = details.map((line) => `             | ${line}\n`).join('');
      write(`${stamp()} ${message}\n${indented}`);
    },
  };
}
