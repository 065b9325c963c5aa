import { describe, expect, it } from '@jest/globals';
import { Instant, instantOf, instantOrNull } from '@countersign/contracts';

describe('the instant of a time', () => {
  it.each([0, new Date('2026-11-30T17:31:08.005Z'), Date.UTC(9_999, 11, 31, 23, 59, 59, 999)])(
    '%p has the form of the API',
    (at) => {
      const instant = instantOf(at);
      expect(Instant.parse(instant)).toBe(instant);
      expect(Date.parse(instant)).toBe(Number(at));
    },
  );

  it.each([Date.UTC(10_000, 0), -1e14, Number.NaN, Infinity, 1e17])('%p does not exist', (at) => {
    expect(() => instantOf(at)).toThrow(RangeError);
  });

  it('is null without a time', () => {
    expect(instantOrNull(null)).toBeNull();
    expect(instantOrNull(0)).toBe('1970-01-01T00:00:00.000Z');
  });
});
