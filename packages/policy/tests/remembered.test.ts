import { describe, expect, it } from '@jest/globals';
import { remembered } from '../src/remembered.ts';

function counted() {
  const calls: string[] = [];
  const of = remembered((name) => {
    calls.push(name);
    return name.toUpperCase();
  });
  return { of, calls };
}

describe('a remembered function of names', () => {
  it('computes the value of a name once', () => {
    const { of, calls } = counted();
    expect([of('a'), of('b'), of('a')]).toEqual(['A', 'B', 'A']);
    expect(calls).toEqual(['a', 'b']);
  });

  it('remembers no long name, since a caller could fill the memory with them', () => {
    const { of, calls } = counted();
    const [longest, tooLong] = ['n'.repeat(256), 'n'.repeat(257)];
    for (const name of [longest, tooLong, longest, tooLong]) expect(of(name)).toBe(name.toUpperCase());
    expect(calls).toEqual([longest, tooLong, tooLong]);
  });

  it('forgets all names when there are too many, and stays right', () => {
    const { of, calls } = counted();
    for (let nth = 0; nth <= 1_000; nth += 1) expect(of(`tool${nth}`)).toBe(`TOOL${nth}`);
    expect(of('tool0')).toBe('TOOL0');
    expect(calls).toHaveLength(1_002);
    of('tool1000');
    expect(calls).toHaveLength(1_002);
  });
});
