import { canonicalize } from '@countersign/crypto';
import type { Attribute } from './attribute.ts';
import { canonicalValue, isMeaningful, isMembers, type Members, type OnUnknown } from './canonical-value.ts';
import { matches, type Predicate } from './predicate.ts';
import { scimRefusal } from './scim-error.ts';

export type Change = {
  readonly op: 'add' | 'remove' | 'replace';
  readonly value: unknown;
  /** The path as the client wrote it, for messages. */
  readonly path: string;
  readonly onUnknown: OnUnknown;
};

type Aim = { readonly attribute: Attribute; readonly filter: Predicate | null; readonly sub: Attribute | null };

/** The value of an attribute after a change; `undefined` when it has none. */
export function changedAttribute(current: unknown, { attribute, filter, sub }: Aim, change: Change): unknown {
  if (!attribute.multiValued) return changedSingle(current, { attribute, sub }, change);
  const before = Array.isArray(current) ? current.filter(isMembers) : [];
  const after = changedList(before, { attribute, filter, sub }, change).map(compacted).filter(isMeaningful);
  return after.length === 0 ? undefined : withOnePrimary(before, after);
}

function changedSingle(current: unknown, { attribute, sub }: Omit<Aim, 'filter'>, change: Change): unknown {
  const members = isMembers(current) ? current : {};
  if (sub !== null) return nonEmpty({ ...members, [sub.name]: valueOf(sub, change) });
  const value = valueOf(attribute, change);
  return isMembers(value) ? nonEmpty({ ...members, ...value }) : value;
}

function changedList(elements: readonly Members[], { attribute, filter, sub }: Aim, change: Change): Members[] {
  if (filter !== null) return changedMatches(elements, { attribute, filter, sub }, change);
  if (sub !== null) {
    const changed = { [sub.name]: valueOf(sub, change) };
    if (elements.length === 0) return change.op === 'remove' ? [] : [changed];
    return elements.map((element) => ({ ...element, ...changed }));
  }
  if (change.op === 'remove' && (change.value === undefined || change.value === null)) return [];
  if (change.op === 'remove') {
    const selectors = selectorsOf(attribute, change);
    return elements.filter((element) => !selectors.some((selector) => includes(element, selector)));
  }
  const values = listOf(canonicalValue(attribute, change.value, change));
  return change.op === 'add' ? joined(elements, values) : joined([], values);
}

function changedMatches(
  elements: readonly Members[],
  { attribute, filter, sub }: Aim & { filter: Predicate },
  change: Change,
): Members[] {
  const isMatch = (element: Members) => matches(filter, (path) => scalarsOf(element[path]));
  if (change.op === 'remove' && sub === null) return elements.filter((element) => !isMatch(element));
  const changed = sub === null ? elementOf(attribute, change) : { [sub.name]: valueOf(sub, change) };
  if (elements.some(isMatch))
    return elements.map((element) => (isMatch(element) ? { ...element, ...changed } : element));
  if (change.op === 'remove') return [...elements];
  const described = sub === null && change.op === 'replace' ? null : membersOf(filter);
  if (described === null) throw scimRefusal('noTarget', `The path ${change.path} matches no value.`, change.path);
  return [...elements, { ...described, ...changed }];
}

/** The element that a filter of equalities describes; `null` for other filters. Entra sets `emails[type eq "work"].value` before it exists. */
function membersOf(filter: Predicate): Members | null {
  switch (filter.kind) {
    case 'string':
      return filter.operator === 'eq' ? { [filter.path]: filter.value } : null;
    case 'boolean':
      return { [filter.path]: filter.value };
    case 'and': {
      const parts = filter.parts.map(membersOf);
      return parts.includes(null) ? null : (Object.assign({}, ...parts) as Members); // every part is an object
    }
    default:
      return null;
  }
}

function valueOf(attribute: Attribute, change: Change): unknown {
  return change.op === 'remove' ? undefined : canonicalValue(attribute, change.value, change);
}

function elementOf(attribute: Attribute, change: Change): Members {
  const value = canonicalValue({ ...attribute, multiValued: false }, change.value, change);
  if (isMembers(value)) return value;
  throw scimRefusal('invalidValue', `\`${change.path}\` takes an object.`, change.path);
}

/** Descriptions of the values to remove. One without members would describe them all, so it is refused. */
function selectorsOf(attribute: Attribute, change: Change): Members[] {
  const list: unknown[] = Array.isArray(change.value) ? change.value : [change.value];
  return list.map((value) => {
    const selector = elementOf(attribute, { ...change, value });
    if (definedEntries(selector).length > 0) return selector;
    throw scimRefusal('invalidValue', `A value to remove from \`${change.path}\` has no members.`, change.path);
  });
}

/** Values with the same identity are one: a member that is added again stays as it is. */
function joined(elements: readonly Members[], values: readonly Members[]): Members[] {
  const added = new Map(values.map((value) => [identityOf(value), value]));
  for (const element of elements) added.delete(identityOf(element));
  return [...elements, ...added.values()];
}

/** Members of groups have an id; other values are equal when all their members are. */
function identityOf(value: Members): string {
  const { value: id, type, primary } = value;
  if (type === undefined && primary === undefined && typeof id === 'string') return id;
  return canonicalize(Object.fromEntries(definedEntries(value)) as never); // text and booleans alone
}

function includes(element: Members, wanted: Members): boolean {
  return definedEntries(wanted).every(([name, value]) => element[name] === value);
}

/** A new primary value takes the place of the one before (RFC 7644 §3.5.2). */
function withOnePrimary(before: readonly Members[], after: readonly Members[]): Members[] {
  const known = new Set(before);
  const isNewPrimary = (element: Members) => element['primary'] === true && !known.has(element);
  if (after.filter(isNewPrimary).length !== 1) return [...after];
  return after.map((element) =>
    element['primary'] === true && !isNewPrimary(element) ? { ...element, primary: false } : element,
  );
}

function listOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isMembers) : [];
}

function scalarsOf(value: unknown): (string | boolean)[] {
  return typeof value === 'string' || typeof value === 'boolean' ? [value] : [];
}

function definedEntries(members: Members): [string, unknown][] {
  return Object.entries(members).filter(([, member]) => member !== undefined);
}

/** The same object when nothing is unassigned in it: {@link withOnePrimary} compares objects by identity. */
function compacted(members: Members): Members {
  return Object.values(members).includes(undefined) ? Object.fromEntries(definedEntries(members)) : members;
}

function nonEmpty(members: Members): Members | undefined {
  const entries = definedEntries(members);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
