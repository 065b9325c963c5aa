import { commonAttributes, findAttribute, type Attribute, type ResourceDefinition } from './attribute.ts';
import { compileFilter } from './compile-filter.ts';
import type { Predicate } from './predicate.ts';
import { withoutSchema } from './schema-prefix.ts';
import { scimRefusal } from './scim-refusal.ts';

/** The place in a resource that an operation changes. */
export type Target = {
  /** `null` for attributes of the core schema. */
  readonly extension: string | null;
  /** `null` when the path names a whole schema. */
  readonly attribute: Attribute | null;
  readonly filter: Predicate | null;
  readonly sub: Attribute | null;
};

/**
 * Parses a path of RFC 7644 §3.5.2, such as `emails[type eq "work"].value`. Names are case-insensitive. `null` when the
 * schema does not have the attribute.
 */
export function parsePath(path: string, definition: ResourceDefinition): Target | null {
  const { names, filter, after } = split(path);
  const schemas = [definition.schema, ...definition.extensions];
  const { schema, rest } = withoutSchema(
    names,
    schemas.map(({ id }) => id),
  );
  const owner = schemas.find(({ id }) => id === schema) ?? definition.schema;
  const extension = owner === definition.schema ? null : owner.id;
  if (rest === '')
    return schema === null || filter !== null ? null : { extension, attribute: null, filter: null, sub: null };
  const [name = '', subName, ...further] = [...rest.split('.'), ...after];
  const attribute = findAttribute(
    extension === null ? [...owner.attributes, ...commonAttributes] : owner.attributes,
    name,
  );
  if (attribute === undefined || further.length > 0) return null;
  const { subAttributes = [] } = attribute;
  const sub = subName === undefined ? null : (findAttribute(subAttributes, subName) ?? undefined);
  if (sub === undefined) return null;
  if (filter === null) return { extension, attribute, filter, sub };
  if (!attribute.multiValued || subAttributes.length === 0)
    throw scimRefusal(
      'invalidPath',
      `\`${attribute.name}\` is not a list of objects, so its path cannot have a filter. Remove the filter.`,
      path,
    );
  return { extension, attribute, filter: elementFilter(filter, subAttributes), sub };
}

/** Splits the path at the first and the last bracket. Names have no brackets, but values in the filter may. */
function split(path: string): { names: string; filter: string | null; after: string[] } {
  const [start, end] = [path.indexOf('['), path.lastIndexOf(']')];
  if (start === -1 && end === -1) return { names: path, filter: null, after: [] };
  const after = path.slice(end + 1);
  if (start < 1 || end < start || (after !== '' && !after.startsWith('.')))
    throw scimRefusal('invalidPath', `The path ${path} is not a path of RFC 7644 §3.5.2.`, path);
  return {
    names: path.slice(0, start),
    filter: path.slice(start + 1, end),
    after: after === '' ? [] : after.slice(1).split('.'),
  };
}

function elementFilter(filter: string, subAttributes: readonly Attribute[]): Predicate {
  const attributes = subAttributes.map(({ name, type, caseExact }) => ({
    path: name,
    type: type === 'boolean' ? type : ('string' as const),
    caseExact,
  }));
  return compileFilter(filter, { attributes, schemas: [] });
}
