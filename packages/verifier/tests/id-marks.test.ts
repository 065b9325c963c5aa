import { expect, it } from '@jest/globals';
import { receiptIdOf } from '@countersign/receipts';
import fc from 'fast-check';
import { IdMarks } from '../src/id-marks.ts';

const letters = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'];
const ulids = fc
  .tuple(
    fc.constantFrom(...letters.slice(0, 8)),
    fc.array(fc.constantFrom(...letters), { minLength: 25, maxLength: 25 }),
  )
  .map(([first, rest]) => `${first}${rest.join('')}`);

it('marks of ids are those that were added, like in a map of texts', () => {
  const marked = fc.tuple(ulids, fc.constantFrom(1, 2, 4, 128));
  fc.assert(
    fc.property(fc.array(marked, { maxLength: 40 }), fc.array(ulids, { maxLength: 40 }), (values, requests) => {
      const [texts, marks] = [new Map<string, number>(), new IdMarks()];
      for (const [id, mark] of values) {
        texts.set(id, (texts.get(id) ?? 0) | mark);
        marks.add(receiptIdOf(id), mark);
      }
      for (const id of [...texts.keys(), ...requests]) expect(marks.get(receiptIdOf(id))).toBe(texts.get(id) ?? 0);
    }),
  );
});

it('marks distinguish ids that differ in one bit, also the id of zeros', () => {
  const marks = new IdMarks();
  const ids = ['0'.repeat(26), `${'0'.repeat(25)}1`, `1${'0'.repeat(25)}`].map((id) => receiptIdOf(id));
  for (const [nth, id] of ids.entries()) {
    expect(marks.get(id)).toBe(0);
    marks.add(id, 1 << nth);
    marks.add(id, 8);
  }
  expect(ids.map((id) => marks.get(id))).toEqual([9, 10, 12]);
});

it('marks stay when the table grows', () => {
  const marks = new IdMarks();
  const idAt = (nth: number) =>
    receiptIdOf([...nth.toString(32).padStart(26, '0')].map((digit) => letters[Number.parseInt(digit, 32)]).join(''));
  for (let nth = 0; nth < 20_000; nth += 1) marks.add(idAt(nth), 1 + (nth % 7));
  const found = Array.from({ length: 40_000 }, (_, nth) => marks.get(idAt(nth)));
  expect(found).toEqual(Array.from({ length: 40_000 }, (_, nth) => (nth < 20_000 ? 1 + (nth % 7) : 0)));
});

it('marks distinguish ids that differ in one letter, at each place', () => {
  const base = '5'.repeat(26);
  for (let place = 0; place < base.length; place += 1) {
    // The first letter of a ULID has three bits.
    const marks = new IdMarks();
    const ids = letters
      .slice(0, place === 0 ? 8 : 32)
      .map((letter) => receiptIdOf(base.slice(0, place) + letter + base.slice(place + 1)));
    for (const id of ids) {
      expect([place, id, marks.get(id)]).toEqual([place, id, 0]);
      marks.add(id, 1);
    }
    expect(ids.map((id) => marks.get(id))).toEqual(ids.map(() => 1));
  }
});
