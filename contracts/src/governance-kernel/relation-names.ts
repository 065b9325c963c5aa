import { z } from 'zod';

/**
 * An entity is `type:id`. Types contain no colon, so the first colon separates type and id. Ids contain no `#`, which
 * precedes the relation of a userset. The id `*` is not allowed, because it could be read as "everyone".
 */
const type = '[a-z][a-z0-9_-]{0,63}';
// Excluded characters: those that PostgreSQL cannot index, invisible ones, and separators. These are controls, blanks
// at the ends, marks of direction and width.
const visible = '[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}#]';
const id = `(?!\\*(?:#|$))(?!\\s)${visible}{1,256}(?<!\\s)`;
const relation = '[a-z][a-z0-9_]{0,63}';

const idBytesMax = 256;
const namesMax = 64 + 1 + idBytesMax + 1 + 64;
const isShort = (name: string) => new TextEncoder().encode(name).length <= namesMax;

function named(pattern: string, meaning: string) {
  return z
    .string()
    .max(namesMax)
    .regex(new RegExp(`^${pattern}$`, 'u'), `must be ${meaning}`)
    .refine(isShort, `must have at most ${namesMax} bytes`);
}

export const EntityType = named(type, 'a type: lower-case letters, digits, _ and -');
export const EntityName = named(`${type}:${id}`, 'type:id, without #').brand<'EntityName'>();
export const RelationName = named(relation, 'a relation: lower-case letters, digits and _').brand<'RelationName'>();
/** An entity, or all subjects with a relation to one: `group:eng#member`. */
export const SubjectName = named(
  `${type}:${id}(?:#${relation})?`,
  'type:id or type:id#relation',
).brand<'SubjectName'>();

export type EntityName = z.infer<typeof EntityName>;
export type RelationName = z.infer<typeof RelationName>;
export type SubjectName = z.infer<typeof SubjectName>;

/** The subject has the relation with the object. */
export const RelationTuple = z.strictObject({ object: EntityName, relation: RelationName, subject: SubjectName });
export type RelationTuple = z.infer<typeof RelationTuple>;
