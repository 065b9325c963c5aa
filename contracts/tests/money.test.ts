import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { currencies, minorDigitsOf } from '../src/currencies.ts';
import { decimalOfMinor, minorOfDecimal } from '../src/money.ts';

const withMinorUnit = [...currencies].filter((code) => minorDigitsOf(code) !== null);

describe('minor units', () => {
  it.each([
    ['EUR', '12.34'],
    ['JPY', '1234'],
    ['CLP', '1234'],
    ['KWD', '1.234'],
    ['CLF', '0.1234'],
  ])('1234 minor units of %s are %s', (currency, decimal) => {
    expect(decimalOfMinor(1234n, currency)).toBe(decimal);
    expect(minorOfDecimal(decimal, currency)).toBe(1234n);
  });

  it('a decimal amount survives the conversion in every currency', () => {
    fc.assert(
      fc.property(fc.constantFrom(...withMinorUnit), fc.bigInt(-(10n ** 15n), 10n ** 15n), (currency, amount) => {
        expect(minorOfDecimal(decimalOfMinor(amount, currency), currency)).toBe(amount);
      }),
    );
  });

  it.each([
    ['JPY', '12.5', 'JPY has 0 decimal places, not 1'],
    ['EUR', '0.125', 'EUR has 2 decimal places, not 3'],
    ['EUR', '1e3', 'decimal string'],
    ['EUR', ' 1', 'decimal string'],
    ['XAU', '1', 'XAU has no minor unit'],
    ['ZZZ', '1', 'ZZZ has no minor unit'],
  ])('rejects an amount in %s of %s', (currency, decimal, message) => {
    expect(() => minorOfDecimal(decimal, currency)).toThrow(message);
  });

  it('the rejected currencies are metals, funds and units of account', () => {
    expect([...currencies].filter((code) => minorDigitsOf(code) === null)).toEqual(
      ['XAG', 'XAU', 'XBA', 'XBB', 'XBC', 'XBD', 'XDR', 'XPD', 'XPT', 'XSU', 'XUA'].toSorted(),
    );
  });
});
