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

/** The values of a multi-valued attribute after a change. */
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

/** A value with these members. One that has labels alone is dropped when it lost a member, and is refused when it got one. */
function merged(value: Members, members: Members, { path }: Change): Members {
  const after = compacted({ ...value, ...members });
  const isLabel = Object.values(members).some((member) => member !== undefined) && !isMeaningful(after);
  if (isLabel) throw scimRefusal('noTarget', `The path ${path} describes a value that does not exist.`, path);
  return after;
}

/** Groups have thousands of members, and a request hundreds of filters: the usual one is compared directly, and others have few terms. */
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

/** The value that a filter of equalities describes; `null` for other filters. Entra sets `emails[type eq "work"].value` before it exists. */
function membersOf(filter: Predicate): Members | null {
  switch (filter.kind) {
    case 'string':
      return filter.operator === 'eq' ? { [filter.path]: filter.sent } : null;
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

/** Removes what one of the values of the operation describes. One without members would describe everything, so it is refused. */
function withoutValues(values: readonly Members[], attribute: Attribute, change: Change): Members[] {
  const list: unknown[] = Array.isArray(change.value) ? change.value : [change.value];
  const byValue = new Map<unknown, Members[]>();
  for (const element of list) {
    const selector = canonicalElement(attribute, element, change);
    const { value: id } = selector;
    if (Object.keys(selector).length === 0 || (hasIdentity(attribute) && id === undefined))
      throw scimRefusal('invalidValue', `A value to remove from \`${change.path}\` names no value.`, change.path);
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

/** Values with the same identity are one: a member that is added again stays as it is. */
function joined(values: readonly Members[], added: readonly Members[], attribute: Attribute): Members[] {
  const byIdentity = new Map(added.map((value) => [identityOf(value, attribute), value]));
  for (const value of values) byIdentity.delete(identityOf(value, attribute));
  return [...values, ...byIdentity.values()];
}

function identityOf(value: Members, attribute: Attribute): string {
  const { value: id } = value;
  if (hasIdentity(attribute) && typeof id === 'string') return id;
  return canonicalize(value as never); // text and booleans alone
}

/** A new primary value takes the place of the one before (RFC 7644 §3.5.2). */
function withOnePrimary(before: readonly Members[], after: readonly Members[]): Members[] {
  const known = new Set(before);
  const isNewPrimary = (value: Members) => value['primary'] === true && !known.has(value);
  if (after.filter(isNewPrimary).length !== 1) return [...after];
  return after.map((value) =>
    value['primary'] === true && !isNewPrimary(value) ? { ...value, primary: false } : value,
  );
}

function scalarsOf(value: unknown): (string | boolean)[] {
  return typeof value === 'string' || typeof value === 'boolean' ? [value] : [];
}
