import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, graverEffect, mistakenFor, parsePolicyBundle, sentenceFor } from '../src/index.ts';

const { tools } = compilePolicy(
  parsePolicyBundle({
    format: 'countersign/policy.v1',
    name: 'test',
    version: '1',
    tools: { 'crm.read': { effect_level: 'E1' } },
    rules: [
      { id: 'mail', effect: 'deny', match: { tool: ['mail.send', 'Mail.send'] } },
      { id: 'files', effect: 'escalate', match: { tool: ['files.*'] } },
      { id: 'notes', effect: 'allow', match: { tool: ['notes.pay', 'pay.*'] } },
      { id: 'any', effect: 'deny', match: { action: ['x'] } },
    ],
  }),
  nodeProvider,
);

it('a bundle without relations restricts exactly the tools of its denying and escalating rules', () => {
  expect([...tools.restricted]).toEqual([['mail.send', new Set(['mail.send', 'Mail.send'])]]);
  expect(tools.patterns).toEqual([{ written: 'files.*', canonical: 'files.*' }]);
});

describe('a confusable name:', () => {
  it.each<[string, string | null]>([
    ['crm.read', null],
    ['CRM.read', 'crm.read'],
    ['crm.rea\u200dd', 'crm.read'],
    ['mail.send', null],
    ['Mail.send', null],
    ['MAIL.send', 'mail.send, Mail.send'],
    ['mail__send', 'mail.send, Mail.send'],
    ['files.read', null],
    ['Files.read', 'files.*'],
    ['files__read', 'files.*'],
    ['Notes.pay', null],
    ['PAY.now', null],
    ['crm.write', null],
  ])('%s is mistaken for %s', (name, lookalike) => {
    expect(mistakenFor(tools, name)).toBe(lookalike);
  });
});

describe('the higher of two effects', () => {
  it('is the one further from E0, in any order', () => {
    const levels = ['E0', 'E1', 'E2', 'E3', 'E4'] as const;
    for (const [gravity, one] of levels.entries()) {
      for (const [otherGravity, second] of levels.entries())
        expect(graverEffect(one, second)).toBe(levels[Math.max(gravity, otherGravity)]);
    }
  });
});

it('the sentence of a tool is found under each of its spellings', () => {
  const sentences = new Map([['files.read', 'read {path}']]);
  expect(
    ['files.read', 'files__read', 'Files.Read', 'files.write'].map((name) => sentenceFor({ sentences }, name)),
  ).toEqual(['read {path}', 'read {path}', 'read {path}', null]);
});
