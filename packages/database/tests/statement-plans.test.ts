import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDatabase, type Database } from '../src/index.ts';
import {
  createTestDatabase,
  explainStatements,
  findGrowingReads,
  recordPlans,
  type PlanRecorder,
  type TestDatabase,
} from '../src/testing.ts';
import { withClient } from '../src/with-client.ts';
import { fixtureServiceDir } from './fixture.ts';

const bound = { rows: 10, pages: 20 };

describe('the plans of statements', () => {
  let scratch: TestDatabase;
  let database: Database;
  let recorder: PlanRecorder;

  beforeAll(async () => {
    scratch = await createTestDatabase({ serviceDir: fixtureServiceDir, schema: 'kernel' });
    await withClient(scratch.adminUrl, (client) =>
      client.query(`
        SET search_path = kernel;
        INSERT INTO notes (id, text) SELECT 'n' || n, 'text ' || n FROM generate_series(1, 20000) n;
        ANALYZE notes;
        CREATE FUNCTION find_text(wanted text) RETURNS SETOF text LANGUAGE plpgsql AS
          'BEGIN RETURN QUERY SELECT id FROM notes WHERE text = wanted; END';
        GRANT EXECUTE ON FUNCTION find_text(text) TO PUBLIC`),
    );
    await explainStatements(scratch);
    database = openDatabase({ url: scratch.url, schema: 'kernel' });
    recorder = recordPlans(database.pool);
  });

  afterAll(async () => {
    await database.close();
    await scratch.drop();
  });

  const growing = async (text: string, values: unknown[] = []) => {
    const plans = await recorder.during(() => database.pool.query(text, values));
    expect(plans.length).toBeGreaterThan(0);
    return findGrowingReads(scratch, plans, bound);
  };

  it('show no growing read for a row that is found by its key', async () => {
    expect(await growing('SELECT * FROM notes WHERE id = $1', ['n7'])).toEqual([]);
  });

  it('show a large table that is read sequentially', async () => {
    expect(await growing('SELECT * FROM notes WHERE text = $1', ['text 7'])).toEqual([
      expect.stringMatching(/^reads all of notes: SELECT/),
      expect.stringMatching(/^Seq Scan reads 20000 rows of notes/),
      expect.stringMatching(/^reads \d+ pages/),
    ]);
  });

  it('show rows that an index scan reads and a filter removes', async () => {
    const text = `SELECT * FROM notes WHERE text = 'text 19999' ORDER BY id LIMIT 1`;
    expect(await growing(`SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; ${text}`)).toContainEqual(
      expect.stringMatching(/^Index Scan reads \d{4,} rows of notes/),
    );
  });

  it('show a statement inside a function', async () => {
    expect(await growing('SELECT * FROM find_text($1)', ['text 7'])).toContainEqual(
      expect.stringMatching(/^reads all of notes: SELECT id FROM notes/),
    );
  });

  it('show a statement of a transaction before its connection returns to the pool', async () => {
    const plans = await recorder.during(async () => {
      const client = await database.pool.connect();
      await client.query('BEGIN');
      await client.query('SELECT count(*) FROM notes WHERE text <> $1', ['']);
      await client.query('COMMIT');
      client.release();
    });
    expect(plans.map(({ text }) => text)).toEqual(['SELECT count(*) FROM notes WHERE text <> $1']);
  });
});
