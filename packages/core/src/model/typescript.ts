/** A workflow as a program that submits it. Pure; checked by compiling what it writes. */
import type { Workflow } from './signature.js';

/** TypeScript for `@leasehold/core`. What a signature holds is JSON, and JSON is an expression of the language. */
export function toTypeScript(workflow: Workflow, options: { readonly namespace?: string } = {}): string {
  const used = new Set<string>(['connect']);
  const made = expression(workflow, used, '');
  return [
    `import { ${[...used].sort().join(', ')} } from '@leasehold/core';`,
    '',
    `const client = connect({ etcd: { endpoints: ['127.0.0.1:2379'] }, namespace: ${quoted(options.namespace ?? 'default')} });`,
    `const submitted = await client.submit(${made});`,
    'console.log(submitted.id);',
    'await client.close();',
    '',
  ].join('\n');
}

function expression(workflow: Workflow, used: Set<string>, indent: string): string {
  if (workflow.kind === 'task') return json(workflow.signature, indent);
  used.add(workflow.kind);
  const deeper = `${indent}  `;
  const list = (parts: readonly Workflow[]): string =>
    `[\n${parts.map((part) => `${deeper}${expression(part, used, deeper)},\n`).join('')}${indent}]`;
  const more = optionsOf(workflow, used, indent);
  switch (workflow.kind) {
    case 'chain':
      return `chain(${list(workflow.steps)}${more})`;
    case 'group':
      return `group(${list(workflow.members)}${more})`;
    case 'chord':
      return `chord(${list(workflow.header)}, ${expression(workflow.callback, used, indent)}${more})`;
  }
}

function optionsOf(workflow: Exclude<Workflow, { kind: 'task' }>, used: Set<string>, indent: string): string {
  const parts = [
    ...(workflow.onFailure === undefined ? [] : [`onFailure: ${quoted(workflow.onFailure)}`]),
    ...(workflow.onError === undefined ? [] : [`onError: ${expression(workflow.onError, used, indent)}`]),
    ...(workflow.kind === 'chain' || workflow.concurrency === undefined
      ? []
      : [`concurrency: ${workflow.concurrency}`]),
  ];
  return parts.length === 0 ? '' : `, { ${parts.join(', ')} }`;
}

/** `"__proto__": x` in an object literal sets the prototype; `["__proto__"]: x` is a property. */
function json(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 2)
    .replaceAll('\n', `\n${indent}`)
    .replace(/^(\s*)"__proto__":/gm, '$1["__proto__"]:');
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
