import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PrincipalId, TenantId } from '@countersign/contracts';
import {
  conformanceStore,
  findLastProven,
  findLastRun,
  findReport,
  listReports,
} from '../src/store/conformance-store.ts';
import { forgetAnswers, idempotencyStore } from '../src/store/idempotency-store.ts';
import { instant, minute, openTestStore, ulid, type TestStore } from './_store-rows.ts';

const tenant = 'acme' as TenantId;
const principal = 'p' as PrincipalId;

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

describe('a stored answer', () => {
  const dayMs = 86_400_000;
  let now: Date;
  beforeEach(() => {
    now = minute(0);
  });
  const answers = () => idempotencyStore(store.database, { databaseNow: async () => now, runningMsMax: 60_000 });
  const answer = { status: 200, text: 'done', headers: { a: 'b' } };

  it('is replayed for a day, only for the same request', async () => {
    const { begin, complete, abandon } = answers();
    expect(await begin('r', 'k', 'print')).toEqual({ kind: 'run' });
    expect(await begin('r', 'k', 'print')).toEqual({ kind: 'in-flight' });
    expect(await begin('r', 'k', 'other')).toEqual({ kind: 'mismatch' });
    expect(await begin('r2', 'k', 'print')).toEqual({ kind: 'run' });
    await complete('r', 'k', answer);
    await abandon('r', 'k');
    expect(await begin('r', 'k', 'print')).toEqual({ kind: 'replay', answer });
    now = new Date(minute(0).getTime() + dayMs);
    expect(await begin('r', 'k', 'print')).toEqual({ kind: 'replay', answer });
    now = new Date(minute(0).getTime() + dayMs + 1);
    expect(await begin('r', 'k', 'other')).toEqual({ kind: 'run' });
    await abandon('r', 'k');
    expect(await begin('r', 'k', 'print')).toEqual({ kind: 'run' });
  });

  it('of a request that was lost with its process is awaited only for the maximum run time', async () => {
    const { begin } = answers();
    await begin('lost', 'k', 'print');
    now = minute(1);
    expect(await begin('lost', 'k', 'print')).toEqual({ kind: 'in-flight' });
    now = new Date(minute(1).getTime() + 1);
    expect(await begin('lost', 'k', 'other')).toEqual({ kind: 'run' });
  });

  it('of a call that the kernel performed is found by its key and fingerprint for a day', async () => {
    const { find, keep, begin } = answers();
    const claim = { key: 'k', fingerprint: 'print' };
    expect(await find('call', claim)).toBeNull();
    await begin('call', 'k', 'print');
    expect(await find('call', claim)).toBeNull();
    await keep('call', claim, answer);
    expect(await find('call', claim)).toEqual(answer);
    await keep('call', claim, { ...answer, text: 'again' });
    expect(await find('call', claim)).toEqual({ ...answer, text: 'again' });
    expect(await find('call', { ...claim, fingerprint: 'other' })).toBeNull();
    now = new Date(minute(0).getTime() + dayMs - 1);
    expect(await find('call', claim)).not.toBeNull();
    now = new Date(minute(0).getTime() + dayMs);
    expect(await find('call', claim)).toBeNull();
  });

  it('without headers is returned without headers, and is deleted after a day', async () => {
    const { find, keep } = answers();
    const claim = { key: 'bare', fingerprint: 'print' };
    await keep('call', claim, answer);
    await store.client.query(`UPDATE idempotency_keys SET headers = NULL WHERE key = 'bare'`);
    expect(await find('call', claim)).toEqual({ ...answer, headers: {} });
    const count = async () => (await store.client.query(`SELECT 1 FROM idempotency_keys WHERE key = 'bare'`)).rowCount;
    await store.database.transaction((tx) => forgetAnswers(tx, new Date(minute(0).getTime() + dayMs - 1)));
    expect(await count()).toBe(1);
    await store.database.transaction((tx) => forgetAnswers(tx, new Date(minute(0).getTime() + dayMs)));
    expect(await count()).toBe(0);
  });

  it('whose key a sealed decision claimed is removed only for that decision', async () => {
    const claimed = { tenant_id: 'acme', principal_id: 'p', route: 'r', key: 'freed', fingerprint: 'print' };
    await store.client.query(
      `INSERT INTO idempotency_keys (tenant_id, principal_id, route, key, fingerprint, state, created_at, ulid)
       SELECT tenant_id, principal_id, route, key, fingerprint, 'done', now(), $2
         FROM jsonb_populate_record(NULL::idempotency_keys, $1)`,
      [JSON.stringify(claimed), ulid(7)],
    );
    const count = async () => (await store.client.query(`SELECT 1 FROM idempotency_keys WHERE key = 'freed'`)).rowCount;
    const free = (nth: number, key = 'freed') =>
      answers().free(
        { caller: { tenant, principal }, route: 'r', claim: { key } } as never,
        `dec_${ulid(nth)}` as never,
      );
    await free(8);
    await free(7, 'other');
    expect(await count()).toBe(1);
    await free(7);
    expect(await count()).toBe(0);
  });
});

describe('conformance runs', () => {
  it('use a single slot in turn, and take it over from an abandoned run', async () => {
    const { beginRun, endRun } = conformanceStore(store.database);
    const begin = (id: string, forgotten: number) =>
      beginRun({ id, at: minute(5), forgottenBefore: minute(forgotten) });
    expect(await begin('a', 0)).toBe(true);
    expect(await begin('b', 5)).toBe(false);
    await endRun('b');
    expect(await begin('b', 5)).toBe(false);
    expect(await begin('c', 6)).toBe(true);
    await endRun('c');
    expect(await begin('d', 0)).toBe(true);
  });

  it('are found as the last run and the last proof, and a malformed report is rejected', async () => {
    const { reader } = store.database;
    expect([await findLastRun(reader), await findLastProven(reader), await findReport(reader, 'none')]).toEqual([
      null,
      null,
      null,
    ]);
    const report = (name: string) => JSON.stringify({ report_id: name });
    await store.insert(
      'conformance_reports',
      { report_id: 'a', position: 11, ended_at: instant(1) },
      { report_id: 'b', position: 12, ended_at: instant(3) },
      { report_id: 'c', position: 13, ended_at: instant(2) },
      { report_id: 'd', position: 14, ended_at: instant(9), verdict: 'FAIL', report: report('d') },
    );
    expect(await findLastRun(reader)).toEqual({ verdict: 'FAIL', ended_at: instant(9) });
    expect(await findLastProven(reader)).toBe(instant(3));
    await expect(findReport(reader, 'd')).rejects.toThrow();
    await expect(listReports(reader, { limit: 1, before: null })).rejects.toThrow();
    expect(await listReports(reader, { limit: 9, before: 11 })).toEqual([]);
  });
});
