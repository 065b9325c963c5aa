import { describe, expect, it } from '@jest/globals';
import { isTooCostly } from '../src/schema-cost.ts';

/** A schema of so many nodes: itself, the list, and what is in it. */
const ofNodes = (nodes: number) => ({ allOf: Array.from({ length: nodes - 2 }, () => ({})) });
const big = ofNodes(50_001);

describe('the cost of a schema', () => {
  it.each<[string, unknown, boolean]>([
    ['50,000 nodes', ofNodes(50_000), false],
    ['one node more', big, true],
    ['no object', true, false],
    ['a big definition that nothing refers to', { $defs: { big }, definitions: { big } }, false],
    ['a reference to a big definition', { $ref: '#/$defs/big', $defs: { big } }, true],
    ['one to a definition of the old name', { $ref: '#/definitions/big', definitions: { big } }, true],
    ['an escaped reference', { $ref: '#/$defs/a~1b~0c%20d', $defs: { 'a/b~c d': big } }, true],
    ['a reference to itself', { properties: { child: { $ref: '#' } } }, false],
    ['a reference to nothing', { $ref: '#/$defs/none/below' }, false],
    ['a reference into what is inherited', { $ref: '#/constructor/prototype' }, false],
    ['a reference to another document', { $ref: 'https://example.org/x' }, true],
    ['a reference to an anchor', { $ref: '#anchor' }, true],
    ['a dynamic reference', { items: { $dynamicRef: '#node' } }, true],
    ['a recursive reference', { items: { $recursiveRef: '#' } }, true],
    ['properties of these names', { properties: { $ref: {}, $dynamicRef: {}, $recursiveRef: {} } }, false],
  ])('of %s', (_what, schema, isCostly) => {
    expect(isTooCostly(schema)).toBe(isCostly);
  });
});
