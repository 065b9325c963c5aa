import { commonMembers, memberDescriptions } from '../generated/member-descriptions.ts';
import type { PlainJson } from '../scalars.ts';
import type { JsonSchema } from './components.ts';

/** The description of a member or a parameter, by its path: `Task.title`, `create-task.body.title`. */
export function descriptionOf(path: string): { description?: string } {
  const name = path.slice(path.lastIndexOf('.') + 1);
  return described(memberDescriptions[path] ?? commonMembers[name]);
}

/**
 * Adds the comments of the contracts to a schema as descriptions of its members. Named schemas contain their own
 * descriptions.
 */
export function withDescriptions(schema: JsonSchema, path: string): JsonSchema {
  return { ...described(memberDescriptions[path]), ...withMembers(schema, path) };
}

function described(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description };
}

function withMembers(schema: JsonSchema, path: string): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]): [string, PlainJson] => {
      if (keyword === 'properties' && isSchema(value)) return [keyword, withProperties(value, path)];
      if (Array.isArray(value))
        return [keyword, value.map((item: PlainJson) => (isSchema(item) ? withMembers(item, path) : item))];
      return [keyword, isSchema(value) ? withMembers(value, path) : value];
    }),
  );
}

function withProperties(properties: JsonSchema, path: string): JsonSchema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [
      name,
      isSchema(member) ? withMember(member, `${path}.${name}`) : member,
    ]),
  );
}

function withMember(schema: JsonSchema, path: string): JsonSchema {
  return { ...descriptionOf(path), ...withMembers(schema, path) };
}

function isSchema(value: PlainJson): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
