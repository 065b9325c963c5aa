import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { bigintArray, textArray } from '../src/store/binary-array.ts';
import { serviceDir } from './_service-dir.ts';

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase({ serviceDir, schema: 'kernel' });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

// PostgreSQL's text holds any character but NUL, in UTF-8.
const short = fc.string({ unit: 'binary' }).filter((value) => !value.includes('\0'));
/** Longer than the texts whose length is only estimated. */
const text = fc.oneof(
  { weight: 9, arbitrary: short },
  short.map((value) => `€${value}`.repeat(4_096)),
);

it('PostgreSQL reads from a binary text array what was written, null and any character included', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text)), async (values) => {
      const { rows } = await client.query('SELECT $1::text[] AS read', [textArray(values)]);
      expect(rows).toEqual([{ read: values }]);
    }),
  );
});

it('PostgreSQL reads from a binary bigint array what was written', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.maxSafeInteger()), async (values) => {
      const { rows } = await client.query('SELECT $1::bigint[] AS read', [bigintArray(values)]);
      expect(rows).toEqual([{ read: values.map(String) }]);
    }),
  );
});
