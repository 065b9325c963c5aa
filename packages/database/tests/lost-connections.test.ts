import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inTransaction, isSerializationFailure, isUnavailable, isUniqueViolation, openDatabase } from '../src/index.ts';
import type { Database } from '../src/index.ts';
import { createTestDatabase } from '../src/testing.ts';
import type { TestDatabase } from '../src/testing.ts';
import { withClient } from '../src/with-client.ts';
import { fixtureServiceDir } from './fixture.ts';

let scratch: TestDatabase;
let database: Database;

beforeAll(async () => {
  scratch = await createTestDatabase({ serviceDir: fixtureServiceDir, schema: 'kernel' });
  database = openDatabase({ url: scratch.url, schema: 'kernel', poolMax: 2 });
});

afterAll(async () => {
  await database.close();
  await scratch.drop();
});

// Has the same effect on every connection as a restart of PostgreSQL.
function terminateConnections(): Promise<unknown> {
  return withClient(scratch.adminUrl, (client) =>
    client.query(
      'SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE usename = $1 AND datname = current_database()',
      [scratch.role],
    ),
  );
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function insertNote(id: string): Promise<unknown> {
  return database.pool.query('INSERT INTO notes (id, text) VALUES ($1, $1)', [id]);
}

async function countNotes(id: string): Promise<number | null> {
  return (await database.pool.query('SELECT FROM notes WHERE id = $1', [id])).rowCount;
}

describe('a pool whose PostgreSQL has no disk space', () => {
  const full = `DO $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`;

  // The limit 0 allows no temporary file, like a full volume.
  const setRoom = async (room: string) => {
    await withClient(scratch.adminUrl, (client) => client.query(`ALTER ROLE ${scratch.role} ${room}`));
    await terminateConnections();
    await failure(database.ping());
  };

  it.each([
    ['a statement outside a transaction', () => database.pool.query(full)],
    ['a statement in a transaction', () => inTransaction(database.pool, (client) => client.query(full))],
  ])('is unhealthy after PostgreSQL refused %s for lack of space, until there is space again', async (_name, write) => {
    await setRoom('RESET temp_file_limit');
    await expect(database.ping()).resolves.toBeUndefined();
    await setRoom('SET temp_file_limit = 0');
    await expect(database.ping()).resolves.toBeUndefined();
    expect(isUnavailable(await failure(write()))).toBe(true);
    for (let attempt = 0; attempt < 2; attempt += 1)
      await expect(database.ping()).rejects.toThrow('temporary file size');
    await setRoom('RESET temp_file_limit');
    await expect(database.ping()).resolves.toBeUndefined();
  });
});

describe('a pool whose PostgreSQL is unavailable', () => {
  it('works again after idle connections died, without a restart of the process', async () => {
    await Promise.all([database.ping(), database.ping()]);
    await terminateConnections();
    await failure(database.ping());
    await expect(database.ping()).resolves.toBeUndefined();
  });

  it('reports a connection lost inside a transaction as unavailable, commits nothing and recovers', async () => {
    const lost = await failure(
      inTransaction(database.pool, async (client) => {
        await client.query(`INSERT INTO notes (id, text) VALUES ('lost', '')`);
        await terminateConnections();
        await client.query('SELECT 1');
      }),
    );
    expect(isUnavailable(lost)).toBe(true);
    expect(await countNotes('lost')).toBe(0);
  });

  it('reports a refused connection as unavailable', async () => {
    const nowhere = openDatabase({ url: `postgres://x@127.0.0.1:${await closedPort()}/x`, schema: 'kernel' });
    expect(isUnavailable(await failure(nowhere.ping()))).toBe(true);
    await nowhere.close();
  });

  it('reports a statement over its time limit as unavailable', async () => {
    const slow = inTransaction(database.pool, async (client) => {
      await client.query('SET LOCAL statement_timeout = 20');
      await client.query('SELECT pg_sleep(5)');
    });
    expect(isUnavailable(await failure(slow))).toBe(true);
  });
});

describe('inTransaction', () => {
  it('rolls back when the work throws, and rethrows the error', async () => {
    const work = inTransaction(database.pool, async (client) => {
      await client.query(`INSERT INTO notes (id, text) VALUES ('undone', '')`);
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    expect(await countNotes('undone')).toBe(0);
  });

  it('rejects when the work caught the error of a failed statement', async () => {
    const work = inTransaction(database.pool, async (client) => {
      await client.query(`INSERT INTO notes (id, text) VALUES ('swallowed', '')`);
      await failure(client.query('SELECT 1 / 0'));
    });
    await expect(work).rejects.toThrow(/was rolled back/);
    expect(await countNotes('swallowed')).toBe(0);
  });
});

describe('failures that the caller can handle', () => {
  it('include a violated constraint, which is named and is neither an outage nor retryable', async () => {
    await insertNote('twice');
    const error = await failure(insertNote('twice'));
    expect([isUniqueViolation(error, 'notes_pkey'), isUniqueViolation(error, 'other')]).toEqual([true, false]);
    expect([isUnavailable(error), isSerializationFailure(error)]).toEqual([false, false]);
  });

  it('include a conflict of two serializable transactions', async () => {
    await insertNote('raced');
    const rival = `UPDATE notes SET text = 'rival' WHERE id = 'raced'`;
    const work = inTransaction(database.pool, async (client) => {
      await client.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
      await client.query('SELECT * FROM notes');
      await database.pool.query(rival);
      await client.query(rival);
    });
    expect(isSerializationFailure(await failure(work))).toBe(true);
  });
});

function closedPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
