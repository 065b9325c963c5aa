import { describe, expect, it } from '@jest/globals';
import { lineOfPath, linesOf } from '../src/index.ts';

const text = `name: n
rules:
  - id: a
    match:
      tool: [x.y]
  - id: b
tools:
  a/b: { effect_level: E1 }
  c~d:
    effect_level: E2
`;

describe('the line of a pointer into a bundle', () => {
  it.each([
    ['/name', 1],
    ['/rules', 3],
    ['/rules/0', 3],
    ['/rules/0/match/tool/0', 5],
    ['/rules/1/id', 6],
    ['/tools/a~1b', 8],
    ['/tools/c~0d/effect_level', 10],
  ])('is found for %s', (path, line) => {
    expect(lineOfPath(text, path)).toBe(line);
  });

  it('is found for a member whose name contains pointer characters', () => {
    const after = 'tools:\n  first: 1\n  a/b: 2\n  c~d: 3\n';
    expect(['/tools/first', '/tools/a~1b', '/tools/c~0d'].map(linesOf(after))).toEqual([2, 3, 4]);
  });

  it('is the line of the nearest container if the member is missing', () => {
    expect(lineOfPath(text, '/rules/1/effect')).toBe(6);
    expect(lineOfPath(text, '/rules/1/match/tool/0')).toBe(6);
  });

  it('is null for the whole text, and for a member without a container', () => {
    expect(lineOfPath(text, '')).toBeNull();
    expect(linesOf(text)('')).toBeNull();
    expect(linesOf('"": nameless')('')).toBeNull();
    expect(lineOfPath(text, '/egress/0')).toBeNull();
  });
});
