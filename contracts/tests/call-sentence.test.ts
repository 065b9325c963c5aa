import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CallSentence, sentenceOfCall } from '../src/governance-kernel/call-sentence.ts';

const shown = (says: string, args: Record<string, unknown>) =>
  sentenceOfCall(says, args)
    ?.map(({ text, isValue }) => (isValue ? `<${text}>` : text))
    .join('') ?? null;

describe('the sentence about a call', () => {
  it('takes the values of its placeholders from the arguments, and marks them', () => {
    const args = {
      amount_minor: 418_000,
      currency: 'EUR',
      creditor: { name: 'Kestrel Freight', bank: { 'is-known': true } },
      yen: 5,
    };
    expect(shown('transfer {money amount_minor currency} to {creditor.name}', args)).toBe(
      'transfer <4180.00 EUR> to <Kestrel Freight>',
    );
    expect(shown('{creditor.bank.is-known} or {yen}', args)).toBe('<true> or <5>');
    expect(shown('pay {money yen c}', { yen: -5, c: 'JPY' })).toBe('pay <-5 JPY>');
    expect(shown('ring the bell', {})).toBe('ring the bell');
  });

  it.each([
    ['a missing value', '{to}', {}],
    ['a missing member', '{to.name}', { to: {} }],
    ['an inherited member', '{constructor}', {}],
    ['a member of a text', '{to.length}', { to: 'ann' }],
    ['a list', '{to}', { to: ['ann'] }],
    ['a member of a list', '{to.length}', { to: ['ann'] }],
    ['null', '{to}', { to: null }],
    ['a blank text', '{to}', { to: ' ' }],
    ['a text that is too long', '{to}', { to: 'x'.repeat(81) }],
    ['a text that is too long once it is shown', '{to}', { to: '\u200b'.repeat(11) }],
    ['an unknown currency', '{money a c}', { a: 1, c: 'EURO' }],
    ['a currency without a minor unit', '{money a c}', { a: 1, c: 'XAU' }],
    ['an amount with a fraction', '{money a c}', { a: 1.5, c: 'EUR' }],
    ['an amount that is a text', '{money a c}', { a: '1', c: 'EUR' }],
    ['an inexact amount', '{money a c}', { a: 2 ** 53, c: 'EUR' }],
  ])('does not exist for %s', (_what, says, args) => {
    expect(CallSentence.safeParse(says).success).toBe(true);
    expect(shown(`send {fixed} ${says}`, { fixed: 1, ...args })).toBeNull();
  });

  it.each([
    '',
    '{',
    'a } b',
    '{}',
    '{a b}',
    '{{a}}',
    '{a.}',
    '{1a}',
    '{money a}',
    '{money a b c}',
    '{a.b.c.d.e.f}',
    '{a}'.repeat(9),
    'x'.repeat(201),
    'pay\u202e{to}',
    'two\nlines',
  ])('is refused: %j', (says) => expect(CallSentence.safeParse(says).success).toBe(false));

  it('never adds words of the caller to the words of the owner', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (to, more) => {
        const pieces = sentenceOfCall('send {to} now', { to, more });
        const own = pieces?.filter(({ isValue }) => !isValue).map(({ text }) => text);
        expect(own ?? ['send ', ' now']).toEqual(['send ', ' now']);
      }),
    );
  });
});
