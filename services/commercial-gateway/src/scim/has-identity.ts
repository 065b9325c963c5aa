import { findAttribute, type Attribute } from './attribute.ts';

/**
 * Returns whether the values of an attribute have an ID, like members of groups. Values of other attributes are
 * compared by all their members.
 */
export function hasIdentity({ subAttributes = [] }: Attribute): boolean {
  return findAttribute(subAttributes, 'value')?.mutability === 'immutable';
}
