import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  explainStatements,
  findGrowingReads,
  recordPlans,
  type TestDatabase,
} from '@countersign/database/testing';
import pg from 'pg';
import { listHeadsUpTo, listLargestHeads, type HeadPlace, type HeadSigner } from '../src/store/checkpoint-store.ts';
import { openKernelDatabase, type KernelDatabase } from '../src/store/database.ts';
import { serviceDir } from './_service-dir.ts';

/**
 * One checkpoint per minute, of a tree that grows by one. The first key signs the first ones, the third key the last
 * ones, and the second key the rest.
 */
const heads = 100_000;
const firsts = 40;
const lasts = 3;
const minute = (nth: number) => new Date(Date.UTC(2020, 0, 1, 0, nth));

const signer = (hint: string): HeadSigner => ({ hint, until: null });
const [first, second, third] = [signer('01020304'), signer('fbeffeff'), signer('0a0b0c0d')];
/** Two keys with checkpoints of larger trees, dated by clocks that differ. */
const [ahead, behind] = [signer('0a0a0a0a'), signer('0b0b0b0b')];
const skewed: [number, HeadSigner, number][] = [
  [heads + 1, ahead, 70],
  [heads + 2, ahead, 60],
  [heads + 3, ahead, 5],
  [heads + 4, behind, 40],
];

let scratch: TestDatabase;
let database: KernelDatabase;
beforeAll(async () => {
  scratch = await createTestDatabase({ serviceDir, schema: 'kernel' });
  await explainStatements(scratch);
  const client = new pg.Client({ connectionString: scratch.adminUrl, options: '-c search_path=kernel' });
  await client.connect();
  await client.query(
    `INSERT INTO checkpoints
     SELECT 'chk_' || lpad(n::text, 26, '0'), n, 'sha256:' || lpad(n::text, 64, '0'), n,
            CASE WHEN n <= ${firsts} THEN $1 WHEN n > ${heads - lasts} THEN $3 ELSE $2 END, NULL,
            '${minute(0).toISOString()}'::timestamptz + n * interval '1 minute'
       FROM generate_series(1, ${heads}) n`,
    [first, second, third].map(({ hint }) => noteOf(hint)),
  );
  for (const [size, { hint }, seconds] of skewed)
    await client.query(`INSERT INTO checkpoints VALUES ($1, $2, $3, $2, $4, NULL, $5)`, [
      `chk_${String(size).padStart(26, '0')}`,
      size,
      `sha256:${String(size).padStart(64, '0')}`,
      noteOf(hint),
      skewedAt(seconds),
    ]);
  await client.query('ANALYZE');
  await client.end();
  database = openKernelDatabase(scratch.url);
});
afterAll(async () => {
  await database.close();
  await scratch.drop();
});

/** A note that the key with this key ID signed. Only the signature is read, and not the content of the note. */
function noteOf(hint: string): string {
  const signature = Buffer.concat([Buffer.from(hint, 'hex'), Buffer.alloc(64, 255)]).toString('base64');
  return `example.org/log\n1\nAQIDBAUGBwg=\n\n— example.org/log ${signature}\n`;
}

async function sizes(signers: HeadSigner[], { before, below = null }: { before: Date; below?: number | null }) {
  const place: HeadPlace = { before, below };
  return (await listLargestHeads(database.reader, signers, place)).map(({ tree_size }) => tree_size);
}

const later = minute(2 * heads);
const skewedAt = (seconds: number) => new Date(minute(heads + 10).getTime() + seconds * 1_000);

describe('the largest checkpoints of the valid keys', () => {
  it('are found by the key ID of their signatures, largest first', async () => {
    expect(await sizes([first, second, third], { before: later })).toEqual([heads, heads - lasts, firsts]);
    expect(await sizes([first], { before: later })).toEqual([firsts]);
    expect(await sizes([signer('ffffffff')], { before: later })).toEqual([]);
    expect(await sizes([], { before: later })).toEqual([]);
  });

  it('are limited to those before an instant, of a smaller tree, and before the end of their key', async () => {
    expect(await sizes([first, second], { before: minute(firsts) })).toEqual([firsts - 1]);
    expect(await sizes([first, second], { before: later, below: firsts + 1 })).toEqual([firsts]);
    expect(await sizes([{ ...first, until: minute(9) }], { before: later })).toEqual([8]);
    expect(await sizes([{ ...first, until: minute(9) }], { before: minute(4) })).toEqual([3]);
  });

  it('are the largest of those dated within a minute of the newest', async () => {
    expect(await sizes([ahead], { before: later })).toEqual([heads + 2]); // the largest checkpoint is dated more than a minute before the newest
    expect(await sizes([ahead], { before: skewedAt(70) })).toEqual([heads + 3]);
    expect(await sizes([ahead], { before: skewedAt(60) })).toEqual([heads + 3]);
    expect(await sizes([ahead], { before: skewedAt(5) })).toEqual([]);
    expect(await sizes([ahead], { before: later, below: heads + 2 })).toEqual([heads + 1]);
    expect(await sizes([ahead, behind, third], { before: later })).toEqual([heads + 4, heads + 2, heads]);
    expect(await sizes([{ ...ahead, until: skewedAt(61) }], { before: later })).toEqual([heads + 3]);
  });

  it('are found without reading the checkpoints of other keys, however many there are', async () => {
    const plans = await recordPlans(database.pool).during(async () => {
      // Enough repetitions for PostgreSQL to switch to a generic plan.
      for (let turn = 0; turn < 7; turn += 1) {
        expect(await sizes([first], { before: later })).toEqual([firsts]);
        expect(await sizes([signer('ffffffff'), first, third], { before: minute(heads - lasts) })).toEqual([firsts]);
        expect(await sizes([first], { before: later, below: heads })).toEqual([firsts]);
        expect(await sizes([second], { before: minute(heads / 2) })).toEqual([heads / 2 - 1]);
      }
    });
    expect(plans).toHaveLength(28);
    expect(await findGrowingReads(scratch, plans, { rows: 10, pages: 60 })).toEqual([]);
  });

  it('are found up to a size, without those of invalid keys', async () => {
    const upTo = async (size: number, without: string[]) =>
      (await listHeadsUpTo(database.reader, { size, without, limit: 2 })).map(({ tree_size }) => tree_size);
    expect(await upTo(firsts + 1, [])).toEqual([firsts + 1, firsts]);
    expect(await upTo(firsts + 9, [second.hint])).toEqual([firsts, firsts - 1]);
    expect(await upTo(firsts, [first.hint])).toEqual([]);
  });

  it('have no key ID when the note has no signature', async () => {
    const client = new pg.Client({ connectionString: scratch.adminUrl, options: '-c search_path=kernel' });
    await client.connect();
    const hints = await client.query<{ hint: string | null }>(
      'SELECT note_key_hint(note) AS hint FROM unnest($1::text[]) WITH ORDINALITY AS n (note, nth) ORDER BY nth',
      [['', 'note', `${noteOf('01020304')}more`, '— example.org/log AQIDBA\n', noteOf('01020304')]],
    );
    await client.end();
    expect(hints.rows.map(({ hint }) => hint)).toEqual([null, null, null, null, '01020304']);
  });
});
