import { expect, it } from '@jest/globals';
import { exportLines } from '@countersign/audit';
import { Digest } from '@countersign/contracts';

const hash = Digest.parse(`sha256:${'a'.repeat(64)}`);
const places = (count: number) => Array.from({ length: count }, (_, index) => ({ seq: index + 1 }));

async function exported(kept: { seq: number }[], seq: number): Promise<unknown[]> {
  const listFrom = async (from: number, limit: number) => kept.filter((one) => one.seq >= from).slice(0, limit);
  let text = '';
  for await (const line of exportLines({ header: { format: 'of a test' }, end: { seq, hash }, listFrom })) text += line;
  return text
    .split('\n')
    .slice(0, -1)
    .map((line): unknown => JSON.parse(line));
}

it('an export of many pages contains the header, each entry once, and the end', async () => {
  expect(await exported(places(450), 450)).toEqual([
    { format: 'of a test' },
    ...places(450),
    { end: { seq: 450, hash } },
  ]);
});

it('an export omits entries that were written after it began, and lacks removed entries', async () => {
  expect(await exported(places(12), 10)).toEqual([{ format: 'of a test' }, ...places(10), { end: { seq: 10, hash } }]);
  const gap = places(450).filter(({ seq }) => seq !== 201);
  expect(await exported(gap, 450)).toEqual([{ format: 'of a test' }, ...gap, { end: { seq: 450, hash } }]);
  expect(await exported(places(3), 450)).toEqual([{ format: 'of a test' }, ...places(3), { end: { seq: 450, hash } }]);
});
