/**
 * Templates: workflows with typed holes. A hole is an argument whose whole value is `{{name}}`; its type is that of the
 * argument. Pure.
 */
import { elementType, isIntType } from './args.js';
import { checkName, invalid } from './check.js';
import type { Json } from './json.js';
import type { ArgType, Workflow } from './signature.js';
import { normalizeWorkflow, type SignatureDefaults } from './validate.js';

export interface TemplateParameter {
  readonly name: string;
  readonly type: ArgType;
}

/** `templates/<id>`. */
export interface TemplateRecord {
  readonly id: string;
  readonly title: string;
  readonly workflow: Workflow;
  /** The holes of its arguments, in the order in which they are met. */
  readonly parameters: readonly TemplateParameter[];
  readonly by: string;
  readonly createdMs: number;
  readonly updatedMs: number;
}

export const TEMPLATE_LIMITS = Object.freeze({ idBytes: 150, recordBytes: 262_144, parameters: 50 });

const HOLE = /^\{\{([A-Za-z][A-Za-z0-9_]{0,59})\}\}$/;

/** The name of the hole that a text is; undefined for any other text. */
export function holeName(value: unknown): string | undefined {
  return typeof value === 'string' ? HOLE.exec(value)?.[1] : undefined;
}

export function holeText(name: string): string {
  return `{{${name}}}`;
}

/** Every typed value in a tree of JSON, with its hole, if it is one, replaced. Nothing else is touched. */
function mapHoles(value: unknown, fill: (hole: TemplateParameter) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => mapHoles(item, fill));
  if (value === null || typeof value !== 'object') return value;
  const { type, value: inner } = value as { readonly type?: unknown; readonly value?: unknown };
  const name = holeName(inner);
  if (typeof type === 'string' && name !== undefined) {
    return { ...value, value: fill({ name, type: type as ArgType }) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapHoles(item, fill)]));
}

/** The holes of a workflow. @throws LeaseholdError `invalid` when one name has two types, or there are too many. */
export function parametersOf(workflow: unknown): readonly TemplateParameter[] {
  const found = new Map<string, ArgType>();
  mapHoles(workflow, ({ name, type }) => {
    const known = found.get(name);
    if (known !== undefined && known !== type) {
      throw invalid('workflow', `${holeText(name)} stands for ${known} and for ${type}; give the two different names`);
    }
    found.set(name, type);
    return holeText(name);
  });
  if (found.size > TEMPLATE_LIMITS.parameters) {
    throw invalid('workflow', `it has ${found.size} parameters of ${TEMPLATE_LIMITS.parameters}`);
  }
  return [...found].map(([name, type]) => ({ name, type }));
}

/** Any value of a type: to check what is around a hole. */
function sample(type: ArgType): Json {
  if (elementType(type) !== null) return [];
  if (isIntType(type)) return '0';
  if (type === 'bool') return false;
  return type === 'float32' || type === 'float64' ? 0 : '';
}

/**
 * Checks a template: with any values in its holes it is a workflow that can be submitted.
 * @throws LeaseholdError `invalid` or `too-large`, with the path of what is wrong.
 */
export function checkTemplate(
  input: { readonly title: unknown; readonly workflow: unknown },
  defaults: SignatureDefaults,
  nowMs: number,
): Pick<TemplateRecord, 'title' | 'workflow' | 'parameters'> {
  const title = checkName(input.title, 'title');
  const parameters = parametersOf(input.workflow);
  normalizeWorkflow(mapHoles(input.workflow, ({ type }) => sample(type)) as Workflow, defaults, nowMs);
  return { title, workflow: input.workflow as Workflow, parameters };
}

/** The workflow with values in its holes. @throws LeaseholdError `invalid` when a value is missing or not known. */
export function fillTemplate(
  { workflow, parameters }: Pick<TemplateRecord, 'workflow' | 'parameters'>,
  values: Readonly<Record<string, unknown>>,
): Workflow {
  for (const name of Object.keys(values)) {
    if (!parameters.some((parameter) => parameter.name === name))
      throw invalid(name, 'the template has no such parameter');
  }
  return mapHoles(workflow, ({ name }) => {
    if (!Object.hasOwn(values, name)) throw invalid(name, 'the template needs a value for it');
    return values[name];
  }) as Workflow;
}
