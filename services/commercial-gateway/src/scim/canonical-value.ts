import { isList } from '@countersign/contracts';
import { findAttribute, type Attribute } from './attribute.ts';
import { scimRefusal } from './scim-refusal.ts';

/** Attributes of a resource or of a complex value, named as in its schema. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * How members outside the schema are treated. PATCH refuses them, because 200 would claim a change that did not happen.
 */
export type OnUnknown = 'ignore' | 'refuse';

type Place = {
  /** The path as the client sent it, for error messages. */
  readonly path: string;
  readonly onUnknown: OnUnknown;
};

export type Change = Place & { readonly op: 'add' | 'remove' | 'replace'; readonly value: unknown };

/**
 * Returns the values of a multi-valued attribute, without values that consist only of labels. Okta sends a single value
 * without a list.
 */
export function canonicalList(attribute: Attribute, value: unknown, place: Place): Members[] {
  if (value === null || value === undefined || value === '') return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.map((element) => canonicalElement(attribute, element, place)).filter(isMeaningful);
}

/** Returns one value of a multi-valued attribute. */
export function canonicalElement(attribute: Attribute, value: unknown, place: Place): Members {
  const canonical = canonicalValue(attribute, value, place) ?? {};
  return isMembers(canonical) ? compacted(canonical) : refuse(place, 'objects');
}

/**
 * Returns a value in the form of the schema. `undefined` when the value unassigns the attribute: `null` (RFC 7643 §2.5)
 * or empty text. Entra sends booleans as text, a manager as a bare ID, and single values in an array. Throws
 * `invalidValue`.
 */
export function canonicalValue(attribute: Attribute, value: unknown, place: Place): unknown {
  if (value === null || value === undefined || value === '') return undefined;
  if (isList(value)) {
    const [only, ...more] = value;
    if (more.length > 0) throw scimRefusal('invalidValue', `\`${place.path}\` must have one value.`, place.path);
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

/** Members that are `undefined` unassign their sub-attribute. */
function canonicalComplex(attribute: Attribute, value: unknown, place: Place): Members | undefined {
  const { subAttributes = [] } = attribute;
  if (typeof value === 'string' && findAttribute(subAttributes, 'value') !== undefined) return { value };
  if (!isMembers(value)) return refuse(place, 'an object');
  const entries = Object.entries(value).flatMap<[string, unknown]>(([name, member]) => {
    const sub = findAttribute(subAttributes, name);
    const path = `${place.path}.${name}`;
    if (sub !== undefined) return [[sub.name, canonicalValue(sub, member, { ...place, path })]];
    if (place.onUnknown === 'refuse')
      throw scimRefusal('invalidPath', `\`${path}\` is not an attribute of this resource.`, path);
    return [];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const labels = new Set(['type', 'primary', 'display', '$ref']);

/** Returns false for a value that consists only of labels. */
export function isMeaningful(value: Members): boolean {
  return Object.entries(value).some(([name, member]) => member !== undefined && !labels.has(name));
}

export function definedEntries(members: Members): [string, unknown][] {
  return Object.entries(members).filter(([, member]) => member !== undefined);
}

/** Removes unassigned members. */
export function compacted(members: Members): Members {
  return Object.fromEntries(definedEntries(members));
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse({ path }: Place, wanted: string): never {
  throw scimRefusal('invalidValue', `\`${path}\` must be ${wanted}.`, path);
}
