import { expect, it } from '@jest/globals';
import { defaultSession } from '../src/mcp/call-settings.ts';

const sessionOf = (principal: string) => defaultSession({ principal } as Parameters<typeof defaultSession>[0]); // plain names

it('a caller without a session has one of their own, however long their name and wherever it is cut', () => {
  expect(sessionOf('a/b\\c')).toBe('default-a_b_c');
  expect(sessionOf('x'.repeat(256))).toBe(`default-${'x'.repeat(248)}`);
  // A character of two halves, of which the cut leaves one.
  expect(sessionOf(`${'x'.repeat(247)}😀`)).toBe(`default-${'x'.repeat(247)}`);
  expect(sessionOf(`${'x'.repeat(247)} b`)).toBe(`default-${'x'.repeat(247)}`);
});
