/** Parameters named in a message: `{n} of {total}` needs n and total; `{n:task|tasks}` picks by number. */
export type Params<S extends string> = S extends `${string}{${infer P}}${infer Rest}`
  ? (P extends `${infer Name}:${string}` ? Name : P) | Params<Rest>
  : never;

export type Arguments<S extends string> = [Params<S>] extends [never]
  ? []
  : [Readonly<Record<Params<S>, string | number>>];

/** Fills a message. A one-or-many part `{n:task|tasks}` takes the first word for exactly 1. */
export function fill(message: string, values: Readonly<Record<string, string | number>> | undefined): string {
  if (values === undefined) return message;
  return message.replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (_, name: string, one?: string, many?: string) => {
    const value = values[name] ?? '';
    if (one === undefined || many === undefined) return String(value);
    return String(value) === '1' ? one : many;
  });
}
