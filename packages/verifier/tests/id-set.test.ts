import { expect, it } from '@jest/globals';
import { receiptIdOf } from '@countersign/receipts';
import fc from 'fast-check';
import { IdSet } from '../src/id-set.ts';

const letters = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'];
const ulids = fc
  .tuple(
    fc.constantFrom(...letters.slice(0, 8)),
    fc.array(fc.constantFrom(...letters), { minLength: 25, maxLength: 25 }),
  )
  .map(([first, rest]) => `${first}${rest.join('')}`);

it('an id set has exactly the ids that were added, like a set of texts', () => {
  fc.assert(
    fc.property(fc.array(ulids, { maxLength: 40 }), fc.array(ulids, { maxLength: 40 }), (values, requests) => {
      const [texts, set] = [new Set(values), new IdSet()];
      for (const id of values) set.add(receiptIdOf(id));
      expect(set.size).toBe(texts.size);
      for (const id of [...values, ...requests]) expect(set.has(receiptIdOf(id))).toBe(texts.has(id));
    }),
  );
});

it('an id set distinguishes ids that differ in one bit, also the id of zeros', () => {
  const set = new IdSet();
  const [zero, one, high] = ['0'.repeat(26), `${'0'.repeat(25)}1`, `1${'0'.repeat(25)}`];
  for (const id of [zero, one, high]) {
    expect(set.has(receiptIdOf(id))).toBe(false);
    set.add(receiptIdOf(id));
    set.add(receiptIdOf(id));
    expect(set.has(receiptIdOf(id))).toBe(true);
  }
  expect(set.size).toBe(3);
});

it('an id set keeps all ids when it grows', () => {
  const set = new IdSet();
  const idAt = (nth: number) =>
    receiptIdOf([...nth.toString(32).padStart(26, '0')].map((digit) => letters[Number.parseInt(digit, 32)]).join(''));
  for (let nth = 0; nth < 20_000; nth += 1) set.add(idAt(nth));
  expect(set.size).toBe(20_000);
  const kept = Array.from({ length: 40_000 }, (_, nth) => set.has(idAt(nth)));
  expect(kept.indexOf(false)).toBe(20_000);
  expect(kept.lastIndexOf(true)).toBe(19_999);
});

it('an id set distinguishes ids that differ in one letter, at each place', () => {
  const base = '5'.repeat(26);
  for (let place = 0; place < base.length; place += 1) {
    // The first letter of a ULID has three bits.
    const set = new IdSet();
    const ids = letters
      .slice(0, place === 0 ? 8 : 32)
      .map((letter) => receiptIdOf(base.slice(0, place) + letter + base.slice(place + 1)));
    for (const id of ids) {
      expect([place, id, set.has(id)]).toEqual([place, id, false]);
      set.add(id);
    }
    expect(set.size).toBe(ids.length);
  }
});
