import { scimSchemas } from '@countersign/contracts/commercial-gateway';
import { compileFilter } from './compile-filter.ts';
import type { FilterAttribute, Predicate } from './predicate.ts';

export type UserPath = 'id' | 'externalId' | 'userName' | 'displayName' | 'emails.value' | 'active';
export type GroupPath = 'id' | 'externalId' | 'displayName' | 'members.value';

const common = [
  { path: 'id', type: 'string', caseExact: true },
  { path: 'externalId', type: 'string', caseExact: true },
  { path: 'displayName', type: 'string', caseExact: false },
] as const;

const userAttributes: readonly FilterAttribute<UserPath>[] = [
  ...common,
  { path: 'userName', type: 'string', caseExact: false },
  { path: 'emails.value', type: 'string', caseExact: false, aliases: ['emails'] },
  { path: 'active', type: 'boolean', caseExact: true },
];

const groupAttributes: readonly FilterAttribute<GroupPath>[] = [
  ...common,
  { path: 'members.value', type: 'string', caseExact: true, aliases: ['members'] },
];

export function parseUserFilter(filter: string): Predicate<UserPath> {
  return compileFilter(filter, { attributes: userAttributes, schemas: [scimSchemas.user] });
}

export function parseGroupFilter(filter: string): Predicate<GroupPath> {
  return compileFilter(filter, { attributes: groupAttributes, schemas: [scimSchemas.group] });
}
