import { expect, it } from '@jest/globals';
import { defaultSession } from '../src/mcp/call-settings.ts';

const sessionOf = (principal: string) => defaultSession('mcp', { principal } as Parameters<typeof defaultSession>[1]);

it('whoever names no session has one of their own, however long their name and wherever it is cut', () => {
  expect(sessionOf('a/b\\c')).toBe('mcp-a_b_c');
  expect(sessionOf('x'.repeat(256))).toBe(`mcp-${'x'.repeat(252)}`);
  // A character of two halves, of which the cut leaves one.
  expect(sessionOf(`${'x'.repeat(251)}😀`)).toBe(`mcp-${'x'.repeat(251)}`);
  expect(sessionOf(`${'x'.repeat(251)} b`)).toBe(`mcp-${'x'.repeat(251)}`);
});
