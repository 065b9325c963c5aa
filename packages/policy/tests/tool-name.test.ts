import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldedToolName, samePerson, toolsNamed } from '../src/index.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 24 });
const respelled: ((name: string) => string)[] = [
  (name) => name.toUpperCase(),
  (name) => name.toLowerCase(),
  (name) => name.normalize('NFKC'),
  (name) => name.normalize('NFKD'),
  (name) => [...name].join('\u200d'),
];

describe('the folded name of a tool', () => {
  it('is the same for every confusable spelling, and does not change when it is folded again', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...respelled), (name, respell) => {
        const folded = foldedToolName(name);
        expect(foldedToolName(respell(name))).toBe(folded);
        expect(foldedToolName(folded)).toBe(folded);
      }),
    );
  });

  const code = (character: string) => [character.codePointAt(0)?.toString(16), character] as const;
  const unseen = [
    ...['\u0082', '\u0085', '\u009b', '\u2028', '\u2029', '\u2800', '\ufff9', '\ufffb', '\ue000', '\ufdd0', '\ud800'],
    ...['\u00ad', '\u200b', '\u202e', '\u3164', '\u{e0041}'],
  ];
  it.each(unseen.map(code))('omits U+%s, which is invisible', (_code, character) => {
    for (const name of [`shell${character}.run`, `${character}shell.run`, `SHELL.run${character}`])
      expect(foldedToolName(name)).toBe('shell.run');
  });

  it('has no upper-case letter of any alphabet', () => {
    expect(['STRAẞE', 'Straße', 'Σ', 'ς'].map(foldedToolName)).toEqual(['strasse', 'strasse', 'σ', 'σ']);
  });

  it('differs for names with any other difference', () => {
    const names = ['notes.pay', 'notes.pays', 'note.pay', 'notes-pay', 'nötes.pay', 'n0tes.pay'];
    expect(new Set(names.map(foldedToolName)).size).toBe(names.length);
  });
});

describe('two names', () => {
  it.each([
    ['ann', 'ann', true],
    ['ann', 'Ann', true],
    ['ann', 'a\u200bnn', true],
    ['ann', 'anna', false],
    ['ann', 'änn', false],
  ])('%s and %s belong to the same person: %s', (one, second, isSame) => {
    expect([samePerson(one as never, second as never), samePerson(second as never, one as never)]).toEqual([
      ...[isSame, isSame],
    ]);
  });
});

describe('the tools that a call names', () => {
  const hosting = (hosted_tools: unknown, action = 'model.call', tool: string | null = null) =>
    toolsNamed({ action, tool, args: { hosted_tools } as never });

  it('are its own tool, or the tools that its provider would run', () => {
    expect(hosting(['web_search', 'a.b'])).toEqual(['web_search', 'a.b']);
    expect(hosting(['web_search'], 'tool.call', 'files.read')).toEqual(['files.read']);
    expect(hosting(['web_search'], 'agent.spawn')).toEqual([]);
    expect(hosting(['web_search', 7, null])).toEqual(['web_search']);
    expect([hosting('web_search'), hosting(undefined)]).toEqual([[], []]);
  });
});
