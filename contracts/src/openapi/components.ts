import { z } from 'zod';
import type { PlainJson } from '../scalars.ts';
import { withDescriptions } from './member-descriptions.ts';

export type JsonSchema = { [keyword: string]: PlainJson };
/**
 * The side that a schema describes: the input of a caller, in which defaults may be absent, or the output of a service.
 */
type Side = 'input' | 'output';

/** Turns zod types into JSON Schema 2020-12, with every named type of the contracts as one shared component. */
export type Components = {
  schemaOf: (type: z.ZodType, side: Side) => JsonSchema;
  /** The referenced schemas, by name in alphabetical order. */
  named: () => Record<string, JsonSchema>;
};

/** zod's name for an unnamed recursive type. The only one here is z.json(), which JSON Schema writes as `{}`. */
const anyJsonDefinition = /^(?:__)?schema\d+$/;

export function createComponents(modules: Record<string, unknown>[], referenceBase: string): Components {
  const registry = z.registry<{ id: string }>();
  for (const [name, type] of namedTypes(modules)) registry.add(type, { id: name });
  const both = {
    input: z.toJSONSchema(registry, { io: 'input', unrepresentable: 'any', uri: (id) => id }).schemas,
    output: z.toJSONSchema(registry, { io: 'output', unrepresentable: 'any', uri: (id) => id }).schemas,
  };
  const used = new Map<string, JsonSchema>();

  function nameFor(id: string, side: Side): string {
    return side === 'input' && JSON.stringify(closure(both.input, id)) !== JSON.stringify(closure(both.output, id))
      ? `${id}Input`
      : id;
  }

  function refer(id: string, side: Side): PlainJson {
    if (both[side][id] === undefined) throw new TypeError(`No schema has the id ${id}`);
    const name = nameFor(id, side);
    if (!used.has(name)) {
      used.set(name, {});
      used.set(name, withDescriptions(tidy(plain(both[side][id]), side), id));
    }
    return `${referenceBase}${name}`;
  }

  function tidy(schema: JsonSchema, side: Side): JsonSchema {
    return mapSchema(schema, (reference) => {
      const id = reference.replace(/^(?:__shared)?#\/\$defs\//, '');
      return anyJsonDefinition.test(id) ? undefined : refer(id, side);
    });
  }

  return {
    schemaOf: (type, side) => {
      const name = registry.get(type)?.id;
      if (name !== undefined) return { $ref: refer(name, side) };
      return tidy(plain(z.toJSONSchema(type, { io: side, unrepresentable: 'any', metadata: registry })), side);
    },
    named: () => Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** The exported zod types, by name. A type with two names keeps the first in alphabetical order. */
function namedTypes(modules: Record<string, unknown>[]): Map<string, z.ZodType> {
  const entries = modules.flatMap((module) => Object.entries(module));
  const types = entries.filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType);
  const seen = new Set<z.ZodType>();
  return new Map(
    types
      .filter(([name]) => /^[A-Z]/.test(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .filter(([, type]) => !seen.has(type) && seen.add(type)),
  );
}

/** The schema with all schemas that it references, for the comparison of its input form with its output form. */
function closure(
  schemas: Record<string, unknown>,
  id: string,
  reached: Record<string, unknown> = {},
): Record<string, unknown> {
  if (id in reached || schemas[id] === undefined) return reached;
  const next = { ...reached, [id]: schemas[id] };
  const references = [...JSON.stringify(schemas[id]).matchAll(/"\$ref":"([A-Za-z0-9]+)"/g)].map(
    (match) => match[1] ?? '',
  );
  return references.reduce((all, reference) => closure(schemas, reference, all), next);
}

function plain(value: unknown): JsonSchema {
  return JSON.parse(JSON.stringify(value)) as JsonSchema; // a JSON Schema object without zod's hidden members
}

/** Copies a schema, calls `onReference` for each `$ref`, and drops keywords of a stand-alone document. */
function mapSchema(schema: JsonSchema, onReference: (reference: string) => PlainJson | undefined): JsonSchema {
  const copy: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (['$schema', '$defs', '$id', 'id'].includes(keyword) && typeof value !== 'object') continue;
    if (keyword === '$defs') continue;
    if (keyword !== '$ref' || typeof value !== 'string') copy[keyword] = mapValue(value, onReference);
    else {
      const target = onReference(value);
      if (target !== undefined) copy[keyword] = target;
    }
  }
  return copy;
}

function mapValue(value: PlainJson, onReference: (reference: string) => PlainJson | undefined): PlainJson {
  if (Array.isArray(value)) return value.map((item) => mapValue(item, onReference));
  return typeof value === 'object' && value !== null ? mapSchema(value, onReference) : value;
}
