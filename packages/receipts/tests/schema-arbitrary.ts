import fc from 'fast-check';
import { z } from 'zod';

/**
 * Values that match a schema, with and without each optional member. Strings are any Unicode text if the schema allows
 * quotes. Otherwise they match its pattern. Throws for a kind of schema that is not listed, so that it cannot be
 * forgotten.
 */
export function arbitraryOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodObject) return objectOf(schema);
  if (schema instanceof z.ZodNullable) return fc.option(arbitraryOf(schema.unwrap() as z.ZodType)); // declared as a core type
  if (schema instanceof z.ZodArray) return fc.array(arbitraryOf(schema.element as z.ZodType), { maxLength: 3 }); // declared as a core type
  if (schema instanceof z.ZodRecord) return fc.dictionary(memberName, itemOf(schema), { maxKeys: 4 });
  if (schema instanceof z.ZodString) return stringOf(schema);
  if (schema instanceof z.ZodLiteral || schema instanceof z.ZodEnum) return constantOf(schema);
  if (schema instanceof z.ZodNumber) return fc.maxSafeNat();
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  throw new Error(`There is no arbitrary for ${schema.type}`);
}

const text = fc.string({ unit: 'binary' });
const memberName = text.filter((name) => name !== '__proto__');
const plainJson = fc
  .jsonValue({ maxDepth: 3, stringUnit: 'binary' })
  .filter((value) => !JSON.stringify(value).includes('__proto__')); // a text cannot contain this member

function itemOf({ valueType }: z.ZodRecord): fc.Arbitrary<unknown> {
  return valueType instanceof z.ZodObject ? arbitraryOf(valueType) : plainJson;
}

function objectOf({ shape }: z.ZodObject): fc.Arbitrary<unknown> {
  const members = Object.entries(shape) as [string, z.ZodType][]; // declared as a core type
  const arbitraries = members.map(([name, member]) => [
    name,
    arbitraryOf(member instanceof z.ZodOptional ? (member.unwrap() as z.ZodType) : member), // declared as a core type
  ]);
  const requiredKeys = members.filter(([, member]) => !(member instanceof z.ZodOptional)).map(([name]) => name);
  return fc.record(Object.fromEntries(arbitraries) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys }); // built above
}

function stringOf(schema: z.ZodString): fc.Arbitrary<string> {
  if (schema.safeParse('"é😀').success) return text;
  const checks = schema.def.checks?.map((check) => check._zod.def as { pattern?: RegExp }) ?? []; // only formats have a pattern
  const pattern = checks.findLast((check) => check.pattern !== undefined)?.pattern;
  if (pattern === undefined) throw new Error('A string that admits no quote has a pattern');
  const made = matching.get(pattern.source) ?? fc.stringMatching(pattern);
  matching.set(pattern.source, made);
  return made;
}

/** The arbitrary of each pattern. Creating one costs as much as thousands of its values. */
const matching = new Map<string, fc.Arbitrary<string>>();

function constantOf(schema: z.ZodLiteral | z.ZodEnum): fc.Arbitrary<unknown> {
  const values: readonly unknown[] = schema instanceof z.ZodLiteral ? [...schema.values] : schema.options;
  return fc.constantFrom(...values);
}
