import { expect, it } from '@jest/globals';
import { defaultSession } from '../src/doors/mcp/call-settings.ts';

const sessionOf = (principal: string) => defaultSession({ principal } as Parameters<typeof defaultSession>[0]); // plain strings instead of branded ones

it('a caller without a session gets a default session, whose name is shortened if it is too long', () => {
  expect(sessionOf('a/b\\c')).toBe('default-a_b_c');
  expect(sessionOf('x'.repeat(256))).toBe(`default-${'x'.repeat(248)}`);
  // The length limit splits a surrogate pair, so the half before the limit is removed too.
  expect(sessionOf(`${'x'.repeat(247)}😀`)).toBe(`default-${'x'.repeat(247)}`);
  expect(sessionOf(`${'x'.repeat(247)} b`)).toBe(`default-${'x'.repeat(247)}`);
});
