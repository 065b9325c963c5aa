import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import { TaskId, WorkspaceId } from '@countersign/contracts';
import { taskCreated } from '@countersign/contracts/gateway';
import { isUnavailable } from '@countersign/database';
import type pg from 'pg';
import type { TestDatabase } from '@countersign/database/testing';
import { eventFactory, recordEventsIn } from '@countersign/messaging';
import { newId } from '../src/ids.ts';
import { openGatewayDatabase, type GatewayDatabase, type Reader, type Tx } from '../src/store/database.ts';
import { listTasksOf } from '../src/store/tasks.ts';
import { ensureUser } from '../src/store/users.ts';
import { rowsOf, testDatabase } from './_gateway.ts';

let scratch: TestDatabase;
let database: GatewayDatabase;

beforeAll(async () => {
  scratch = await testDatabase();
  // A server that tells the time as in India: half an hour beside every full hour.
  await rowsOf(
    scratch,
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET TimeZone = ''Asia/Kolkata''', current_database()); END $$`,
  );
  database = openGatewayDatabase(scratch.url);
});

afterAll(async () => {
  await database?.close();
  await scratch?.drop();
});

const newEvent = eventFactory({ source: '/test' });
const at = new Date('2026-03-29T00:59:59.123Z');

async function isStored(email: string): Promise<boolean> {
  return (await rowsOf(scratch, 'SELECT FROM users WHERE email = $1', [email])).length > 0;
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a transaction', () => {
  it('keeps nothing of its rows and its events when the work throws, and passes the error on', async () => {
    const place = { workspaceId: WorkspaceId.parse(newId('wsp')), taskId: TaskId.parse(newId('tsk')) };
    const told = newEvent(taskCreated, place);
    const { id } = told.event;
    const work = database.transaction(async (tx) => {
      await ensureUser(tx, 'undone@example.org', at);
      await recordEventsIn(tx, [told]);
      expect(await tx.outboxMessage.count({ where: { id } })).toBe(1);
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    expect(await isStored('undone@example.org')).toBe(false);
    expect(await rowsOf(scratch, 'SELECT FROM outbox WHERE id = $1', [id])).toEqual([]);
  });

  it('does not claim a commit when the work swallowed an error', async () => {
    const work = database.transaction(async (tx) => {
      await ensureUser(tx, 'swallowed@example.org', at);
      await failureOf(tx.$executeRaw`SELECT 1 / 0`);
    });
    await expect(work).rejects.toThrow(/was rolled back/);
    expect(await isStored('swallowed@example.org')).toBe(false);
  });

  it('whose connection is lost is unavailable, keeps nothing, and the next one works', async () => {
    const lost = await failureOf(
      database.transaction(async (tx) => {
        await ensureUser(tx, 'lost@example.org', at);
        // Roles are the server's: the same one works in the databases of other tests.
        const ours = 'usename = $1 AND datname = current_database()';
        await rowsOf(scratch, `SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE ${ours}`, [
          scratch.role,
        ]);
        await ensureUser(tx, 'lost-too@example.org', at);
      }),
    );
    expect(isUnavailable(lost)).toBe(true);
    expect(await isStored('lost@example.org')).toBe(false);
    await database.transaction((tx) => ensureUser(tx, 'found@example.org', at));
    expect(await isStored('found@example.org')).toBe(true);
  });

  it('that finds no free connection is unavailable', async () => {
    const { options } = database.pool as pg.Pool; // the store shows less of its pool than this test changes
    const { connectionTimeoutMillis } = options;
    let release = () => {};
    let holding = 0;
    const held = new Promise<void>((resolve) => (release = resolve));
    const holders = Array.from({ length: options.max }, () =>
      database.transaction(async () => {
        holding += 1;
        await held;
      }),
    );
    await until(() => holding === options.max);
    // Only what waits from now on is given up soon.
    options.connectionTimeoutMillis = 50;
    const failure = await failureOf(database.transaction(async (tx) => tx.user.count()));
    Object.assign(options, { connectionTimeoutMillis });
    release();
    await Promise.all(holders);
    expect(isUnavailable(failure)).toBe(true);
  });
});

describe('the store', () => {
  it('writes and reads instants as they are, whatever time zone the server is set to', async () => {
    await database.transaction((tx) => ensureUser(tx, 'clock@example.org', at));
    const byServer = await rowsOf(scratch, `SELECT created_at = $2::timestamptz AS same FROM users WHERE email = $1`, [
      'clock@example.org',
      at,
    ]);
    expect(byServer).toEqual([{ same: true }]);
    expect(await database.reader.user.findUnique({ where: { email: 'clock@example.org' } })).toMatchObject({
      createdAt: at,
    });
  });

  it('throws when a filter is undefined by mistake, and never leaves it out', async () => {
    const mistake = undefined as unknown as string; // what a type error at run time would hand on
    await expect(listTasksOf(database.reader, mistake, { limit: 10 })).rejects.toThrow('undefined');
  });

  it('says in an error what was wrong with a write, and not what was to be written', async () => {
    const wrong = { title: 'a secret', status: 1 } as unknown as { title: string }; // a number where text belongs
    const error = await failureOf(database.transaction((tx) => tx.task.updateMany({ data: wrong })));
    expect(String(error)).toContain('status');
    expect(String(error)).not.toContain('a secret');
  });
});

type WritingMethod = `${'create' | 'update' | 'delete' | 'upsert'}${string}`;
type IsNever<Type> = [Type] extends [never] ? true : false;

it('a reader has no method that writes, takes no SQL, and passes for no transaction', () => {
  // The compiler is what tests this: each line says what it must have found.
  const hasNoWriter: IsNever<Extract<keyof Reader[keyof Reader], WritingMethod>> = true;
  const takesNoSql: IsNever<Extract<keyof Reader, `$${string}`>> = true;
  const isNoTransaction: Reader extends Tx ? false : true = true;
  const isReadOfTransaction: Tx extends Reader ? true : false = true;
  expect([hasNoWriter, takesNoSql, isNoTransaction, isReadOfTransaction]).not.toContain(false);
});
