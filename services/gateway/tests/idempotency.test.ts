import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { actOnce } from '../src/store/idempotency.ts';
import { rowsOf, signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
let agedMs = 0;
const now = () => new Date(Date.now() + agedMs);

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }), { now });
  person = await signInAs(gateway.url, 'ada@example.org');
});
afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const create = (key: string, title: string) =>
  fetch(new URL('/api/tasks', gateway.url), {
    method: 'POST',
    headers: { ...person.headers, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ title, description: '' }),
  });
const tasksOf = (title: string) =>
  rowsOf(database, 'SELECT id FROM tasks WHERE workspace_id = $1 AND title = $2', [person.workspace.id, title]);

describe('one Idempotency-Key has one effect', () => {
  it('for many simultaneous requests: one acts, and all get its answer', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('raced', 'Raced')));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(8).fill(201));
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(7);
    expect(await tasksOf('Raced')).toHaveLength(1);
  });

  it('when the process dies before the commit: nothing happened, and the next request acts', async () => {
    const { transaction } = gateway.context.database;
    const claim = { scope: 'scope', key: 'died', fingerprint: 'sha256:a', now: now() };
    const dying = transaction(async (tx) => {
      await actOnce(tx, claim, async () => '"first"');
      await tx.$executeRaw`SELECT pg_terminate_backend(pg_backend_pid())`;
    });
    await expect(dying).rejects.toThrow();
    const next = await transaction((tx) => actOnce(tx, claim, async () => '"second"'));
    expect(next).toEqual({ answer: '"second"', replayed: false });
  });

  it('when the commit fails: neither effect nor key remains, and the next request acts', async () => {
    const refusal = `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused by a test'; END $$`;
    const late = 'CONSTRAINT TRIGGER late AFTER INSERT ON tasks DEFERRABLE INITIALLY DEFERRED';
    await rowsOf(database, refusal);
    await rowsOf(database, `CREATE ${late} FOR EACH ROW WHEN (NEW.title = 'Late') EXECUTE FUNCTION refuse()`);
    expect((await create('late', 'Late')).status).toBe(500);
    await rowsOf(database, 'DROP TRIGGER late ON tasks');
    const next = await create('late', 'Late');
    expect([next.status, next.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect(await tasksOf('Late')).toHaveLength(1);
  });

  it('when the request was refused: the key is free again', async () => {
    const refused = await create('refused', '');
    expect(refused.status).toBe(400);
    expect((await create('refused', 'Now with a title')).status).toBe(201);
  });

  it('for a day', async () => {
    expect((await create('aged', 'Aged')).headers.get('idempotency-replayed')).toBeNull();
    agedMs += 24 * 3_600_000 - 1_000;
    expect((await create('aged', 'Aged')).headers.get('idempotency-replayed')).toBe('true');
    agedMs += 2_000;
    expect((await create('aged', 'Aged')).headers.get('idempotency-replayed')).toBeNull();
    expect(await tasksOf('Aged')).toHaveLength(2);
  });
});
