import { describe, expect, it } from '@jest/globals';
import { PrincipalId, ResourceName, SessionId, ToolName } from '../src/index.ts';
import { FenceScope } from '../src/governance-kernel/index.ts';

/** Code points, since the characters are invisible. */
const unseen = [
  ...[0x00, 0x0a, 0x1f, 0x7f, 0x80, 0x82, 0x85, 0x9b, 0x9f, 0x2028, 0x2029, 0x2800, 0xfff9, 0xfffa, 0xfffb],
  ...[0xe000, 0xf8ff, 0xfdd0, 0xfdef, 0xfffe, 0xffff, 0x1fffe, 0xf0000, 0x10fffd, 0xd800, 0xdfff],
].map((number) => [number.toString(16), String.fromCodePoint(number)] as const);
const isName = (schema: { safeParse(value: unknown): { success: boolean } }, name: string) =>
  schema.safeParse(name).success;

describe('a name', () => {
  it.each(unseen)('cannot contain U+%s at any position', (_number, character) => {
    for (const name of [`shell${character}.run`, `${character}shell.run`, `shell.run${character}`]) {
      for (const schema of [ToolName, PrincipalId, SessionId]) expect(isName(schema, name)).toBe(false);
      for (const scope of [`tool:acme/${name}`, `agent:acme/${name}`]) expect(isName(FenceScope, scope)).toBe(false);
    }
  });

  it('may use any script, with the joiners that some scripts need', () => {
    for (const name of [
      'shell.run',
      'Zoë Ångström',
      '名前.読む',
      'می\u200cخواهم',
      '👩\u200d🚀',
      'נאוה',
      'x'.repeat(256),
    ]) {
      for (const schema of [ToolName, PrincipalId, SessionId])
        expect([name, isName(schema, name)]).toEqual([name, true]);
      expect(isName(FenceScope, `agent:acme/${name}`)).toBe(true);
    }
  });
});

it('the resource of a call may contain any visible spelling, on one line', () => {
  for (const resource of ['caf\u0085e', 'a\u2028b', '\ue000', '⠀']) expect(isName(ResourceName, resource)).toBe(true);
  for (const resource of ['a\nb', 'a\u0000', 'a\u007f', ' a', '']) expect(isName(ResourceName, resource)).toBe(false);
});
