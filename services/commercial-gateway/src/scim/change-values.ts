import { scimLimits } from '@countersign/contracts/commercial-gateway';
import { canonicalize } from '@countersign/crypto';
import type { Attribute } from './attribute.ts';
import {
  canonicalElement,
  canonicalList,
  canonicalValue,
  compacted,
  isMeaningful,
  type Change,
  type Members,
} from './canonical-value.ts';
import { hasIdentity } from './has-identity.ts';
import { matches, termsOf, type Predicate } from './predicate.ts';
import { scimRefusal } from './scim-refusal.ts';

export type Aim = { readonly attribute: Attribute; readonly filter: Predicate | null; readonly sub: Attribute | null };

/** Returns the values of a multi-valued attribute after a change. */
export function changedValues(values: readonly Members[], { attribute, filter, sub }: Aim, change: Change): Members[] {
  const after =
    filter === null
      ? changedAll(values, { attribute, sub }, change)
      : changedMatches(values, { attribute, sub, filter }, change);
  const max = hasIdentity(attribute) ? scimLimits.membersPerGroup : scimLimits.values;
  if (after.length > max)
    throw scimRefusal(
      'invalidValue',
      `\`${attribute.name}\` would have ${after.length} values (limit ${max}).`,
      attribute.name,
    );
  return hasIdentity(attribute) ? after : withOnePrimary(values, after);
}

function changedAll(values: readonly Members[], { attribute, sub }: Omit<Aim, 'filter'>, change: Change): Members[] {
  const { op, value } = change;
  if (sub !== null) {
    requireFew(values, change.path);
    return withSub(values.length === 0 ? [{}] : values, { sub, isMatch: () => true }, change);
  }
  if (op === 'remove') return value === undefined || value === null ? [] : withoutValues(values, attribute, change);
  return joined(op === 'add' ? values : [], canonicalList(attribute, value, change), attribute);
}

type Selected = { attribute: Attribute; sub: Attribute | null; filter: Predicate };

function changedMatches(values: readonly Members[], { attribute, sub, filter }: Selected, change: Change): Members[] {
  const isMatch = matcherOf(filter, values, change);
  if (sub === null && change.op === 'remove') return values.filter((value) => !isMatch(value));
  const isFound = values.some(isMatch);
  if (!isFound && change.op === 'remove') return [...values];
  const described = isFound || (sub === null && change.op === 'replace') ? null : membersOf(filter);
  if (!isFound && described === null)
    throw scimRefusal('noTarget', `The path ${change.path} matches no value.`, change.path);
  const all = described === null ? values : [...values, described];
  const isChanged = (value: Members) => (described === null ? isMatch(value) : value === described);
  if (sub !== null) return withSub(all, { sub, isMatch: isChanged }, change);
  const members = canonicalElement(attribute, change.value, change);
  return all.map((value) => (isChanged(value) ? merged(value, members, change) : value)).filter(isMeaningful);
}

type SubChange = { sub: Attribute; isMatch: (value: Members) => boolean };

function withSub(values: readonly Members[], { sub, isMatch }: SubChange, change: Change): Members[] {
  const member = change.op === 'remove' ? undefined : canonicalValue(sub, change.value, change);
  const members = { [sub.name]: member };
  return values.map((value) => (isMatch(value) ? merged(value, members, change) : value)).filter(isMeaningful);
}

/**
 * Returns the value with the changed members. Throws `noTarget` when a member was set and the value still consists only
 * of labels.
 */
function merged(value: Members, members: Members, { path }: Change): Members {
  const after = compacted({ ...value, ...members });
  const isLabel = Object.values(members).some((member) => member !== undefined) && !isMeaningful(after);
  if (isLabel) throw scimRefusal('noTarget', `The path ${path} describes a value that does not exist.`, path);
  return after;
}

/**
 * Returns the comparison for a filter. Groups have thousands of members and requests hundreds of filters. The usual
 * filter is therefore compared directly, and other filters may have only few terms.
 */
function matcherOf(filter: Predicate, values: readonly Members[], { path }: Change): (value: Members) => boolean {
  if (filter.kind === 'string' && filter.operator === 'eq' && !filter.folded && filter.path === 'value')
    return ({ value }) => value === filter.value;
  if (termsOf(filter) > scimLimits.pathTerms)
    throw scimRefusal('invalidPath', `The filter of ${path} has more than ${scimLimits.pathTerms} comparisons.`, path);
  requireFew(values, path);
  return (value) => matches(filter, (name) => scalarsOf(value[name]));
}

function requireFew(values: readonly Members[], path: string): void {
  if (values.length > scimLimits.filteredValues)
    throw scimRefusal('invalidPath', `${path} concerns ${values.length} values. Name one by \`[value eq "…"]\`.`, path);
}

/**
 * Returns the value that a filter with only `eq` and `and` describes. `null` for other filters. It is needed because
 * Entra sets `emails[type eq "work"].value` before that value exists.
 */
function membersOf(filter: Predicate): Members | null {
  switch (filter.kind) {
    case 'string':
      return filter.operator === 'eq' ? { [filter.path]: filter.sent } : null;
    case 'boolean':
      return { [filter.path]: filter.value };
    case 'and': {
      const pieces = filter.operands.map(membersOf);
      return pieces.includes(null) ? null : (Object.assign({}, ...pieces) as Members); // every part is an object
    }
    default:
      return null;
  }
}

/**
 * Removes each value that matches a value of the operation. A value without members would match everything, so it is
 * refused.
 */
function withoutValues(values: readonly Members[], attribute: Attribute, change: Change): Members[] {
  const list: unknown[] = Array.isArray(change.value) ? change.value : [change.value];
  const byValue = new Map<unknown, Members[]>();
  for (const element of list) {
    const selector = canonicalElement(attribute, element, change);
    const { value: id } = selector;
    if (Object.keys(selector).length === 0 || (hasIdentity(attribute) && id === undefined))
      throw scimRefusal(
        'invalidValue',
        `A value to remove from \`${change.path}\` has no members. Send the members that identify it.`,
        change.path,
      );
    const others = byValue.get(id);
    if (others === undefined) byValue.set(id, [selector]);
    else others.push(selector);
  }
  const isRemoved = (value: Members) =>
    [value['value'], undefined].some((id) => byValue.get(id)?.some((selector) => includes(value, selector)));
  return values.filter((value) => !isRemoved(value));
}

function includes(value: Members, selector: Members): boolean {
  return Object.entries(selector).every(([name, member]) => value[name] === member);
}

/** Adds values. A value with the identity of an existing one is ignored. */
function joined(values: readonly Members[], added: readonly Members[], attribute: Attribute): Members[] {
  const byIdentity = new Map(added.map((value) => [identityOf(value, attribute), value]));
  for (const value of values) byIdentity.delete(identityOf(value, attribute));
  return [...values, ...byIdentity.values()];
}

function identityOf(value: Members, attribute: Attribute): string {
  const { value: id } = value;
  if (hasIdentity(attribute) && typeof id === 'string') return id;
  return canonicalize(value as never); // only text and booleans
}

/** A new primary value replaces the previous one (RFC 7644 §3.5.2). */
function withOnePrimary(before: readonly Members[], after: readonly Members[]): Members[] {
  const existing = new Set(before);
  const isNewPrimary = (value: Members) => value['primary'] === true && !existing.has(value);
  if (after.filter(isNewPrimary).length !== 1) return [...after];
  return after.map((value) =>
    value['primary'] === true && !isNewPrimary(value) ? { ...value, primary: false } : value,
  );
}

function scalarsOf(value: unknown): (string | boolean)[] {
  return typeof value === 'string' || typeof value === 'boolean' ? [value] : [];
}
