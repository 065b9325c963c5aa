import { findAttribute, type Attribute } from './attribute.ts';
import { scimRefusal } from './scim-refusal.ts';

/** Attributes of a resource or of a complex value, under the names of its schema. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * The treatment of members that the schema does not have. PATCH refuses them, since an answer of 200 would claim a
 * change.
 */
export type OnUnknown = 'ignore' | 'refuse';

type Place = {
  /** The path as the client wrote it, for messages. */
  readonly path: string;
  readonly onUnknown: OnUnknown;
};

export type Change = Place & { readonly op: 'add' | 'remove' | 'replace'; readonly value: unknown };

/** The values of a multi-valued attribute, without those that have labels alone. Okta sends a single value without a list. */
export function canonicalList(attribute: Attribute, value: unknown, place: Place): Members[] {
  if (value === null || value === undefined || value === '') return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.map((element) => canonicalElement(attribute, element, place)).filter(isMeaningful);
}

/** One value of a multi-valued attribute. */
export function canonicalElement(attribute: Attribute, value: unknown, place: Place): Members {
  const canonical = canonicalValue(attribute, value, place) ?? {};
  return isMembers(canonical) ? compacted(canonical) : refuse(place, 'objects');
}

/**
 * A value in the form in which the schema has it; `undefined` when the value unassigns the attribute (RFC 7643 §2.5; clients send empty text
 * as well). Entra sends booleans as text, a manager as its bare id, and single values in an array of one. Throws `invalidValue`.
 */
export function canonicalValue(attribute: Attribute, value: unknown, place: Place): unknown {
  if (value === null || value === undefined || value === '') return undefined;
  if (Array.isArray(value)) {
    const [only, ...more] = value as unknown[];
    if (more.length > 0) throw scimRefusal('invalidValue', `\`${place.path}\` takes one value.`, place.path);
    return Array.isArray(only) ? refuse(place, 'one value') : canonicalValue(attribute, only, place);
  }
  switch (attribute.type) {
    case 'complex':
      return canonicalComplex(attribute, value, place);
    case 'boolean':
      return canonicalBoolean(value, place);
    case 'string':
    case 'reference':
    case 'dateTime':
      return canonicalText(value, place);
  }
}

function canonicalText(value: unknown, place: Place): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  const inner = isMembers(value) ? value['value'] : undefined;
  return typeof inner === 'string' ? inner : refuse(place, 'text');
}

function canonicalBoolean(value: unknown, place: Place): boolean {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : undefined;
  if (word === 'true' || word === 'false') return word === 'true';
  return refuse(place, 'true or false');
}

/** Members with `undefined` unassign a sub-attribute. */
function canonicalComplex(attribute: Attribute, value: unknown, place: Place): Members | undefined {
  const { subAttributes = [] } = attribute;
  if (typeof value === 'string' && findAttribute(subAttributes, 'value') !== undefined) return { value };
  if (!isMembers(value)) return refuse(place, 'an object');
  const entries = Object.entries(value).flatMap<[string, unknown]>(([name, member]) => {
    const sub = findAttribute(subAttributes, name);
    const path = `${place.path}.${name}`;
    if (sub !== undefined) return [[sub.name, canonicalValue(sub, member, { ...place, path })]];
    if (place.onUnknown === 'refuse')
      throw scimRefusal('invalidPath', `\`${path}\` is no attribute of this resource.`, path);
    return [];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const labels = new Set(['type', 'primary', 'display', '$ref']);

/** A value that has nothing but labels is no value. */
export function isMeaningful(value: Members): boolean {
  return Object.entries(value).some(([name, member]) => member !== undefined && !labels.has(name));
}

export function definedEntries(members: Members): [string, unknown][] {
  return Object.entries(members).filter(([, member]) => member !== undefined);
}

/** Without the members that are unassigned. */
export function compacted(members: Members): Members {
  return Object.fromEntries(definedEntries(members));
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse({ path }: Place, wanted: string): never {
  throw scimRefusal('invalidValue', `\`${path}\` takes ${wanted}.`, path);
}
