import { describe, expect, it } from '@jest/globals';
import { jsonDifferences } from '../src/index.ts';

describe('the differences between two JSON values', () => {
  it('have a path, and the text before and after', () => {
    const before = { name: 'read', schema: { type: 'object', required: ['id'] }, old: 1 };
    const after = { name: 'read', schema: { type: 'object', required: ['id', 'all'] }, fresh: null };
    expect(jsonDifferences(before, after)).toEqual([
      { path: 'fresh', before: null, after: 'null' },
      { path: 'old', before: '1', after: null },
      { path: 'schema.required', before: '[\n  "id"\n]', after: '[\n  "id",\n  "all"\n]' },
    ]);
  });

  it('include members whose names every object inherits', () => {
    const hostile = JSON.parse('{ "__proto__": { "x": 1 }, "toString": "mine" }') as unknown;
    expect(jsonDifferences({}, hostile)).toEqual([
      { path: '__proto__', before: null, after: '{\n  "x": 1\n}' },
      { path: 'toString', before: null, after: '"mine"' },
    ]);
  });
});
