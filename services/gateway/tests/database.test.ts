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
  // The database uses the time zone of India, whose offset +05:30 is not a whole number of hours.
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
  it('rolls back its rows and events when the work throws, and rethrows the error', async () => {
    const place = { workspaceId: WorkspaceId.parse(newId('wsp')), taskId: TaskId.parse(newId('tsk')) };
    const report = newEvent(taskCreated, place);
    const { id } = report.event;
    const work = database.transaction(async (tx) => {
      await ensureUser(tx, 'undone@example.org', at);
      await recordEventsIn(tx, [report]);
      expect(await tx.outboxMessage.count({ where: { id } })).toBe(1);
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    expect(await isStored('undone@example.org')).toBe(false);
    expect(await rowsOf(scratch, 'SELECT FROM outbox WHERE id = $1', [id])).toEqual([]);
  });

  it('does not report a commit when the work swallowed an error', async () => {
    const work = database.transaction(async (tx) => {
      await ensureUser(tx, 'swallowed@example.org', at);
      await failureOf(tx.$executeRaw`SELECT 1 / 0`);
    });
    await expect(work).rejects.toThrow(/was rolled back/);
    expect(await isStored('swallowed@example.org')).toBe(false);
  });

  it('that loses its connection fails as unavailable and keeps nothing, and the next one works', async () => {
    const lost = await failureOf(
      database.transaction(async (tx) => {
        await ensureUser(tx, 'lost@example.org', at);
        // The role also has connections to the databases of other tests, because roles belong to the server.
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

  it('without a free connection fails as unavailable', async () => {
    const { options } = database.pool as pg.Pool; // the type of the store hides most of its pool
    const { connectionTimeoutMillis } = options;
    let release = () => {};
    let holding = 0;
    const snapshot = new Promise<void>((resolve) => (release = resolve));
    const holders = Array.from({ length: options.max }, () =>
      database.transaction(async () => {
        holding += 1;
        await snapshot;
      }),
    );
    await until(() => holding === options.max);
    // The short timeout applies only to waits for a connection that begin after this line.
    options.connectionTimeoutMillis = 50;
    const failure = await failureOf(database.transaction(async (tx) => tx.user.count()));
    Object.assign(options, { connectionTimeoutMillis });
    release();
    await Promise.all(holders);
    expect(isUnavailable(failure)).toBe(true);
  });
});

describe('the store', () => {
  it('writes and reads instants unchanged in every time zone of the server', async () => {
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

  it('throws when a filter is undefined by mistake, and never omits the filter', async () => {
    const mistake = undefined as unknown as string; // undefined in spite of its type
    await expect(listTasksOf(database.reader, mistake, { limit: 10 })).rejects.toThrow('undefined');
  });

  it('states in an error what was wrong with a write, without its values', async () => {
    const wrong = { title: 'a secret', status: 1 } as unknown as { title: string }; // a number instead of text
    const error = await failureOf(database.transaction((tx) => tx.task.updateMany({ data: wrong })));
    expect(String(error)).toContain('status');
    expect(String(error)).not.toContain('a secret');
  });
});

type WritingMethod = `${'create' | 'update' | 'delete' | 'upsert'}${string}`;
type IsNever<Type> = [Type] extends [never] ? true : false;

it('a reader has no method that writes, accepts no SQL, and is not accepted as a transaction', () => {
  // The compiler runs this test: each line compiles only if its type is as expected.
  const hasNoWriter: IsNever<Extract<keyof Reader[keyof Reader], WritingMethod>> = true;
  const takesNoSql: IsNever<Extract<keyof Reader, `$${string}`>> = true;
  const isNoTransaction: Reader extends Tx ? false : true = true;
  const isReadOfTransaction: Tx extends Reader ? true : false = true;
  expect([hasNoWriter, takesNoSql, isNoTransaction, isReadOfTransaction]).not.toContain(false);
});
