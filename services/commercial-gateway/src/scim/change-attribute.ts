import type { Attribute } from './attribute.ts';
import { canonicalValue, definedEntries, isMembers, type Change, type Members } from './canonical-value.ts';
import { changedValues, type Aim } from './change-values.ts';
import { hasIdentity } from './has-identity.ts';
import { IdentityValues } from './identity-values.ts';
import { scimRefusal } from './scim-refusal.ts';

/** Returns the value of an attribute after a change. `undefined` when the attribute has no value. */
export function changedAttribute(current: unknown, aim: Aim, change: Change): unknown {
  const { attribute, sub } = aim;
  if (attribute.mutability === 'readOnly' || (sub !== null && sub.mutability !== 'readWrite'))
    throw scimRefusal('mutability', `\`${change.path}\` cannot be changed.`, change.path);
  if (!attribute.multiValued) return changedValue(current, aim, change);
  if (hasIdentity(attribute)) return IdentityValues.of(current).changed(aim, change);
  const before = Array.isArray(current) ? current.filter(isMembers) : [];
  const after = changedValues(before, aim, change);
  return after.length === 0 ? undefined : after;
}

function changedValue(current: unknown, { attribute, sub }: Aim, change: Change): unknown {
  const members = isMembers(current) ? current : {};
  if (sub !== null) return nonEmpty({ ...members, [sub.name]: newValue(sub, change) });
  const value = newValue(attribute, change);
  return isMembers(value) ? nonEmpty({ ...members, ...value }) : value;
}

function newValue(attribute: Attribute, change: Change): unknown {
  return change.op === 'remove' ? undefined : canonicalValue(attribute, change.value, change);
}

function nonEmpty(members: Members): Members | undefined {
  const entries = definedEntries(members);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
