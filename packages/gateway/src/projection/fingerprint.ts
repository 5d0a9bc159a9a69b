import { hash32 } from '@leasehold/core/model';

/** What of a message changes from case to case: ids, numbers, addresses, quoted values. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>'],
  [/"[^"]{0,500}"|'[^']{0,500}'|`[^`]{0,500}`/g, '<text>'],
  [/\b(?:0x)?[0-9a-f]{12,}\b/gi, '<hex>'],
  [/\d+/g, '#'],
];

/** Errors of one kind have one fingerprint: the type and the message without what varies. */
export function fingerprint(type: string, message: string): string {
  let shape = message.slice(0, 300);
  for (const [pattern, name] of VARYING) shape = shape.replace(pattern, name);
  const text = `${type}: ${shape}`;
  const hex = (n: number): string => n.toString(16).padStart(8, '0');
  return `${hex(hash32(text))}${hex(hash32(`${text}.`))}`;
}
