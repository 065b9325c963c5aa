import { z } from 'zod';
import type { AnyRoute } from './route.ts';

type Members = Record<string, unknown>;
type JsonSchema = z.core.JSONSchema.JSONSchema;

/**
 * A valid body of a route with as few members as possible, from the schema of the contract. `chosen` are members whose
 * meaning matters, such as an existing id. Throws when no valid body is found, so that a test chooses the members that
 * a schema does not describe.
 */
export function minimalBody(route: Pick<AnyRoute, 'operation' | 'body'>, chosen: Members = {}): Members {
  const { body } = route;
  if (!(body instanceof z.ZodType)) throw new Error(`${route.operation} has no body`);
  const schema = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' });
  const made = { ...(valueOf(schema, schema) as Members), ...chosen }; // bodies are objects
  for (const sample of samples) {
    const issue = body.safeParse(made).error?.issues[0];
    if (issue === undefined) return made;
    replaceText(made, issue.path, sample);
  }
  const { error } = body.safeParse(made);
  if (error === undefined) return made;
  throw new Error(`${route.operation} needs members that a test chooses: ${z.prettifyError(error)}`);
}

/** Replaces a text that a refinement refuses, since a JSON Schema does not describe refinements. */
function replaceText(made: Members, path: readonly PropertyKey[], sample: string): void {
  const last = String(path.at(-1));
  const holder = path.slice(0, -1).reduce<unknown>((value, key) => (value as Members)[String(key)], made);
  if (typeof holder === 'object' && holder !== null && typeof (holder as Members)[last] === 'string')
    (holder as Members)[last] = sample;
}

function valueOf(schema: JsonSchema, root: JsonSchema): unknown {
  if (schema.$ref !== undefined) return valueOf(referenceOf(schema.$ref, root), root);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const choices = schema.anyOf ?? schema.oneOf ?? [];
  if (choices.some((choice) => whole(choice).type === 'null')) return null;
  const [first] = choices;
  if (first !== undefined) return valueOf(whole(first), root);
  if (schema.allOf !== undefined)
    return Object.assign({}, ...schema.allOf.map((each) => valueOf(whole(each), root))) as Members; // each describes an object
  switch (schema.type) {
    case 'object':
      return objectOf(schema, root);
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => valueOf(itemOf(schema), root));
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return schema.minimum ?? (typeof schema.exclusiveMinimum === 'number' ? schema.exclusiveMinimum + 1 : 0);
    case 'boolean':
      return false;
    default:
      return null;
  }
}

function objectOf({ properties = {}, required = [] }: JsonSchema, root: JsonSchema): Members {
  return Object.fromEntries(required.map((name) => [name, valueOf(whole(properties[name] ?? true), root)]));
}

function referenceOf(reference: string, root: JsonSchema): JsonSchema {
  return whole(root.$defs?.[reference.replace('#/$defs/', '')] ?? true);
}

function itemOf({ items }: JsonSchema): JsonSchema {
  return whole(Array.isArray(items) ? (items[0] ?? true) : (items ?? true));
}

function whole(schema: JsonSchema | boolean): JsonSchema {
  return typeof schema === 'boolean' ? {} : schema;
}

const ulid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
/** Texts of the forms that contracts use. The first that fits is taken. */
const samples = [
  ...['x', 'xxxxxxxx', 'a.b', 'app.made.up', 'x/y', '1.0.0', 'agent:taken'],
  ...['taken@example.org', 'https://example.org/', '2026-11-01T00:00:00.000Z', '2026-11-01', 'EUR'],
  ...[`sha256:${'0'.repeat(64)}`, '0'.repeat(64), 'A'.repeat(22), 'A'.repeat(43), ulid],
];
const sampleOfFormat: Record<string, string> = {
  email: 'taken@example.org',
  uri: 'https://example.org/',
  'date-time': '2026-11-01T00:00:00.000Z',
};

function textOf({ pattern, format, minLength = 0, maxLength = Infinity }: JsonSchema): string {
  const form = new RegExp(pattern ?? '', 'u');
  const prefix = /^\^\(?(?:\?:)?([a-z]+_)/.exec(pattern ?? '')?.[1];
  const candidates = [
    ...(format === undefined ? [] : [sampleOfFormat[format] ?? '']),
    ...(prefix === undefined ? [] : [`${prefix}${ulid}`, `${prefix}${'A'.repeat(22)}`]),
    ...samples,
    'x'.repeat(minLength),
  ];
  const fits = (text: string) => text.length >= minLength && text.length <= maxLength && form.test(text);
  return candidates.find(fits) ?? '';
}
