import { describe, expect, it } from '@jest/globals';
import { minorLess, minorOfText, moneyOf, percentOf, priceOf, quantityOf } from '../src/commercial/amounts.ts';
import { periodOf } from '../src/compliance/period-of.ts';

describe('amounts', () => {
  it('show the decimal places of their currency and every digit', () => {
    expect(moneyOf('9007199254740993', 'EUR')).toBe('€90,071,992,547,409.93');
    expect(moneyOf('-1234', 'EUR')).toBe('-€12.34');
    expect(moneyOf(1_234, 'JPY')).toBe('¥1,234');
    expect(moneyOf('1234', 'KWD')).toMatch(/1\.234$/);
    expect(minorLess('9007199254740993', '1', '1')).toBe('9007199254740991');
  });

  it('for one unit are shown for one, a thousand or a million units if that gives whole minor units, or else exactly', () => {
    expect(priceOf('900', 'EUR')).toBe('€9.00 each');
    expect(priceOf('0.2', 'EUR')).toBe('€2.00 a thousand');
    expect(priceOf('0.0001', 'EUR')).toBe('€1.00 a million');
    expect(priceOf('0.000000000001', 'EUR')).toBe('0.000000000001 minor units of EUR each');
  });

  it('that were typed are accepted only as whole minor units above zero', () => {
    expect(minorOfText('19.99', 'EUR')).toBe(1_999);
    for (const text of ['19.999', '0', '-1', '1,5', '', '1e3']) expect(minorOfText(text, 'EUR')).toBeNull();
    expect(minorOfText('1', 'XXX')).toBeNull();
  });

  it('are shown as whole percentages of their limit, at most 100', () => {
    expect(percentOf('138204.5', 150_000)).toBe(92);
    expect(percentOf('200', 100)).toBe(100);
    expect(quantityOf('1234567.5')).toBe('1,234,567.5');
  });
});

describe('the period of a report', () => {
  const nowMs = Date.parse('2026-11-27T12:00:30.000Z');

  it('covers whole days, and today up to the last full minute', () => {
    expect(periodOf({ first: '2026-11-01', last: '2026-11-26' }, nowMs)).toEqual({
      ...{ from: '2026-11-01T00:00:00.000Z', to: '2026-11-27T00:00:00.000Z', fault: null },
    });
    expect(periodOf({ first: '2026-11-27', last: '2026-11-27' }, nowMs)).toMatchObject({
      to: '2026-11-27T12:00:00.000Z',
    });
  });

  it('is rejected with the reason when it is invalid', () => {
    const faultOf = (first: string, last: string) => periodOf({ first, last }, nowMs).fault;
    expect(faultOf('', '2026-11-01')).toBe('Choose both days');
    expect(faultOf('2026-11-02', '2026-11-01')).toBe('The last day is before the first day');
    expect(faultOf('2026-11-01', '2026-11-28')).toMatch(/^The last day is in the future/);
    expect(faultOf('2025-11-20', '2026-11-26')).toMatch(/^The period has more than 366 days/);
    expect(faultOf('2025-11-26', '2026-11-26')).toBeNull();
  });
});
