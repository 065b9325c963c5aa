import { scimLimits } from '@countersign/contracts/commercial-gateway';
import { AppError } from '@countersign/contracts';
import type { Attribute, ResourceDefinition } from './attribute.ts';
import { canonicalElement, canonicalList, isMembers, type Change, type Members } from './canonical-value.ts';
import { changedValues, type Aim } from './change-values.ts';
import { hasIdentity } from './has-identity.ts';
import { termsOf } from './predicate.ts';
import { scimRefusal } from './scim-refusal.ts';

/**
 * Members of a group while one request changes them. A group has thousands, and a request hundreds of operations, so the usual operations cost what
 * they change. Others read every member, and a request has few of them.
 */
export class IdentityValues {
  readonly #byId: Map<unknown, Members>;
  /** Values that operations of the request have read. */
  #read: number;

  private constructor(values: readonly Members[], read: number) {
    this.#byId = new Map(values.map((value) => [value['value'], value]));
    this.#read = read;
  }

  static of(current: unknown): IdentityValues {
    if (current instanceof IdentityValues) return current;
    return new IdentityValues(Array.isArray(current) ? current.filter(isMembers) : [], 0);
  }

  /** The values after the change. This object belongs to the request, so it may be changed itself. */
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

  /** A member that is added again stays as it is. */
  #add(attribute: Attribute, change: Change): this {
    const added = new Map(canonicalList(attribute, change.value, change).map((value) => [value['value'], value]));
    for (const [id, value] of added) if (!this.#byId.has(id)) this.#byId.set(id, value);
    const { size } = this.#byId;
    if (size <= scimLimits.membersPerGroup) return this;
    const message = `\`${attribute.name}\` would have ${size} values (limit ${scimLimits.membersPerGroup}).`;
    throw scimRefusal('invalidValue', message, attribute.name);
  }
}

/** Members with the values by id in place of lists. */
export function withIdentities(members: Members, { schema }: ResourceDefinition): Members {
  const names = schema.attributes.filter(hasIdentity).map(({ name }) => name);
  const lists = names.filter((name) => members[name] !== undefined);
  return { ...members, ...Object.fromEntries(lists.map((name) => [name, IdentityValues.of(members[name])])) };
}

/** Members with lists again. An attribute without a value is absent. */
export function withLists(members: Members): Members {
  const entries = Object.entries(members).flatMap<[string, unknown]>(([name, member]) => {
    if (!(member instanceof IdentityValues)) return [[name, member]];
    const { values } = member;
    return values.length === 0 ? [] : [[name, values]];
  });
  return Object.fromEntries(entries);
}

/** The ids that an operation removes, if it names them by nothing else. */
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
