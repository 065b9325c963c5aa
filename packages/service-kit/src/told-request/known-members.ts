import { z } from 'zod';

/** The names that a contract defines in a value, at each place. */
export type KnownMembers = {
  /** `null` when no member has this name. */
  member(name: string): KnownMembers | null;
  items(): KnownMembers;
};

type Schema = { readonly [keyword: string]: unknown };

const schemas = new WeakMap<z.ZodType, Schema>();

/** A type without a contract has no known members. */
export function knownMembersOf(type: unknown): KnownMembers {
  if (!(type instanceof z.ZodType)) return knownIn([], {});
  const schema = schemas.get(type) ?? z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' });
  schemas.set(type, schema);
  return knownIn([schema], schema);
}

/** `alternatives` are the possible schemas of a value. `root` resolves their references. */
function knownIn(alternatives: readonly Schema[], root: Schema): KnownMembers {
  const open = new Set<Schema>();
  for (const alternative of alternatives) unfold(alternative, root, open);
  return {
    member: (name) => {
      const found = [...open].flatMap(({ properties }) => memberOf(properties, name));
      return found.length === 0 ? null : knownIn(found, root);
    },
    items: () =>
      knownIn(
        [...open].flatMap(({ items, prefixItems }) => [items, prefixItems].flat().filter(isSchema)),
        root,
      ),
  };
}

function unfold(schema: Schema, root: Schema, open: Set<Schema>): void {
  if (open.has(schema)) return;
  open.add(schema);
  const { anyOf, oneOf, allOf, $ref } = schema;
  const referred = typeof $ref === 'string' ? [referredTo($ref, root)] : [];
  for (const further of [anyOf, oneOf, allOf, referred].flat().filter(isSchema)) unfold(further, root, open);
}

function referredTo(reference: string, root: Schema): unknown {
  const [, name] = /^#\/\$defs\/(.+)$/.exec(reference) ?? [];
  return name === undefined ? root : memberOf(root['$defs'], name)[0];
}

function memberOf(members: unknown, name: string): Schema[] {
  if (!isSchema(members) || !Object.hasOwn(members, name)) return [];
  const member = members[name];
  return isSchema(member) ? [member] : [];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
