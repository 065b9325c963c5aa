import { scimLimits } from '@countersign/contracts/commercial-gateway';
import { AppError } from '@countersign/contracts';
import type { Attribute, ResourceDefinition } from './attribute.ts';
import { canonicalElement, canonicalList, isMembers, type Change, type Members } from './canonical-value.ts';
import { changedValues, type Aim } from './change-values.ts';
import { hasIdentity } from './has-identity.ts';
import { termsOf } from './predicate.ts';
import { scimRefusal } from './scim-refusal.ts';

/**
 * The members of a group while one request changes them. A group has thousands of members and a request hundreds of
 * operations. The usual operations therefore read only the members that they change. Other operations read every
 * member, and their number per request is limited.
 */
export class IdentityValues {
  readonly #byId: Map<unknown, Members>;
  /** Number of comparisons that the operations of the request have made so far. */
  #read: number;

  private constructor(values: readonly Members[], read: number) {
    this.#byId = new Map(values.map((value) => [value['value'], value]));
    this.#read = read;
  }

  static of(current: unknown): IdentityValues {
    if (current instanceof IdentityValues) return current;
    return new IdentityValues(Array.isArray(current) ? current.filter(isMembers) : [], 0);
  }

  /** Returns the values after the change. May change and return this object, which belongs to one request. */
  changed(aim: Aim, change: Change): IdentityValues {
    const removed = removedIds(aim, change);
    if (removed !== null) {
      for (const id of removed) this.#byId.delete(id);
      return this;
    }
    if (change.op === 'add' && aim.filter === null && aim.sub === null) return this.#add(aim.attribute, change);
    this.#read += this.#byId.size * (aim.filter === null ? 1 : termsOf(aim.filter));
    if (this.#read > scimLimits.valuesRead)
      throw new AppError(
        'PAYLOAD_TOO_LARGE',
        `The operations up to ${change.path} compare more than ${scimLimits.valuesRead} values. Send fewer of them in one request.`,
      );
    return new IdentityValues(changedValues(this.values, aim, change), this.#read);
  }

  get values(): Members[] {
    return [...this.#byId.values()];
  }

  /** A member that is added again stays unchanged. */
  #add(attribute: Attribute, change: Change): this {
    const added = new Map(canonicalList(attribute, change.value, change).map((value) => [value['value'], value]));
    for (const [id, value] of added) if (!this.#byId.has(id)) this.#byId.set(id, value);
    const { size } = this.#byId;
    if (size <= scimLimits.membersPerGroup) return this;
    const message = `\`${attribute.name}\` would have ${size} values (limit ${scimLimits.membersPerGroup}).`;
    throw scimRefusal('invalidValue', message, attribute.name);
  }
}

/** Replaces lists of values by `IdentityValues`. */
export function withIdentities(members: Members, { schema }: ResourceDefinition): Members {
  const names = schema.attributes.filter(hasIdentity).map(({ name }) => name);
  const lists = names.filter((name) => members[name] !== undefined);
  return { ...members, ...Object.fromEntries(lists.map((name) => [name, IdentityValues.of(members[name])])) };
}

/** Replaces `IdentityValues` by lists. An attribute without values is omitted. */
export function withLists(members: Members): Members {
  const entries = Object.entries(members).flatMap<[string, unknown]>(([name, member]) => {
    if (!(member instanceof IdentityValues)) return [[name, member]];
    const { values } = member;
    return values.length === 0 ? [] : [[name, values]];
  });
  return Object.fromEntries(entries);
}

/** Returns the IDs that an operation removes. `null` when it selects values in another way. */
function removedIds({ attribute, filter, sub }: Aim, change: Change): unknown[] | null {
  const { op, value } = change;
  if (op !== 'remove' || sub !== null) return null;
  if (filter !== null) {
    const isById = filter.kind === 'string' && filter.operator === 'eq' && !filter.folded && filter.path === 'value';
    return isById ? [filter.value] : null;
  }
  if (value === undefined || value === null) return null;
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const selectors = list.map((element) => canonicalElement(attribute, element, change));
  const isById = selectors.every((selector) => Object.keys(selector).join() === 'value');
  return isById ? selectors.map((selector) => selector['value']) : null;
}
