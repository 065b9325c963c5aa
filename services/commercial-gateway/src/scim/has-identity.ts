import { findAttribute, type Attribute } from './attribute.ts';

/** Members of groups are people, whom their id identifies. Values of other attributes are equal when all their members are. */
export function hasIdentity({ subAttributes = [] }: Attribute): boolean {
  return findAttribute(subAttributes, 'value')?.mutability === 'immutable';
}
