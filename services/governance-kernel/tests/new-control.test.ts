import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import pg from 'pg';
import { controls } from '../src/controls.ts';
import type { LedgerBatch } from '../src/ledger/batch.ts';
import { columnsOf, integer, selectByKey, text } from '../src/ledger/columns.ts';
import { drop, put, type AnyControl, type Change, type Control } from '../src/ledger/control.ts';
import { openKernelDatabase, type KernelDatabase } from '../src/store/database.ts';
import { ledgerFunctions } from '../src/store/ledger-functions.ts';
import { append, readParameters, readStatement } from '../src/store/ledger-sql.ts';
import { serviceDir } from './_service-dir.ts';

type Terms = { readonly id: string; readonly limit: number };
type Count = { readonly id: string; readonly taken: number; readonly revision: number };
type Use = { readonly id: string; readonly order: string };

const byId = {
  keyValues: (id: string) => [id],
  keyText: (id: string) => id,
  idOf: ({ id }: { id: string }) => id,
  setsOf: ({ id }: { id: string }) => [id],
};
const table = { table: 'quotas', primaryKey: ['quota_id'] } as const;

/** The terms that people set. The epoch guards them. */
const quotaTerms: Control<string, Terms> = {
  name: 'quota_terms',
  guard: 'epoch',
  ...selectByKey('quotas', ['quota_id']),
  ...columnsOf<Terms>({ id: text('quota_id'), limit: integer('limit') }),
  ...byId,
  writes: { ...table, put: { kind: 'upsert' } },
};
/** The counts that decisions change. A revision guards them. */
const quotas: Control<string, Count> = {
  name: 'quotas',
  guard: 'row',
  comparesReads: true,
  ...selectByKey('quotas', ['quota_id']),
  ...columnsOf<Count>({ id: text('quota_id'), taken: integer('taken'), revision: integer('revision') }),
  ...byId,
  writes: { ...table, put: { kind: 'update' }, drops: true },
};
/** The events that happen once. Their key guards them. */
const quotaUses: Control<string, Use> = {
  name: 'quota_uses',
  guard: 'key',
  ...selectByKey('quota_uses', ['quota_id']),
  ...columnsOf<Use>({ id: text('quota_id'), order: text('order') }),
  ...byId,
  writes: { table: 'quota_uses', primaryKey: ['quota_id', 'order'], put: { kind: 'insert_once' } },
};
const all = [...controls, quotaTerms, quotas, quotaUses] as readonly AnyControl[]; // each control receives only rows of its own type

let scratch: TestDatabase;
let database: KernelDatabase;
beforeAll(async () => {
  scratch = await createTestDatabase({ serviceDir, schema: 'kernel' });
  database = openKernelDatabase(scratch.url);
  await expect(appended({ changes: [put(quotaTerms, terms)] })).rejects.toThrow('knows no puts of quota_terms');
  const base = await readFile(join(serviceDir, 'src', 'store', 'ledger-functions.base.sql'), 'utf8');
  await asAdministrator(`
    CREATE TABLE quotas (quota_id text PRIMARY KEY, "limit" bigint NOT NULL, taken bigint DEFAULT 0, revision bigint DEFAULT 0);
    CREATE TABLE quota_uses (quota_id text, "order" text, PRIMARY KEY (quota_id, "order"));
    GRANT ALL ON quotas, quota_uses TO ${scratch.role};
    ${ledgerFunctions(all, base)}`);
});
beforeEach(() => asAdministrator('TRUNCATE quotas, quota_uses'));
afterAll(async () => {
  await database?.close();
  await scratch?.drop();
});

async function asAdministrator(sql: string): Promise<void> {
  const administrator = new pg.Client({ connectionString: scratch.adminUrl, options: '-c search_path=kernel' });
  await administrator.connect();
  await administrator.query(sql).finally(() => administrator.end());
}

const terms: Terms = { id: 'calls', limit: 5 };
const counted = (taken: number, revision: number): Count => ({ id: 'calls', taken, revision });

type Appended = { changes?: Change[]; reads?: { control: unknown; rows: unknown[] }[]; mark?: number };

/** Appends one batch without receipts, with the statement that kernels send. */
async function appended({ changes = [], reads = [], mark }: Appended): Promise<void> {
  const epoch = { mark: mark ?? (await epochMark()), timeline: await timeline() };
  const batch = { sealed: [], chains: [], changes, reads } as unknown as LedgerBatch; // the members that are read
  const values = append.valuesOf({ epoch, batch, datedMs: Date.now() });
  await database.pool.query({ text: append.text, values });
}

async function stale(what: string, batch: Appended): Promise<void> {
  const before = await rows();
  await expect(appended(batch)).rejects.toMatchObject({ code: 'CS001', message: `stale ${what}` });
  expect(await rows()).toEqual(before);
}

async function epochMark(): Promise<number> {
  const { rows: found } = await database.pool.query<{ epoch: string }>('SELECT epoch FROM controls');
  return Number(found[0]?.epoch);
}

async function timeline(): Promise<string> {
  const { rows: found } = await database.pool.query<{ timeline: string }>('SELECT timeline()');
  return found[0]?.timeline ?? '';
}

/** Reads the rows of the key with the statement that kernels send. */
async function rows(): Promise<{ terms: unknown[]; counts: unknown[]; uses: unknown[] }> {
  const sets = [quotaTerms, quotas, quotaUses].map((control) => ({ control, key: 'calls', set: 'calls' }) as never);
  const values = readParameters(all, { chains: [], sets });
  const { rows: found } = await database.pool.query<Record<string, object[] | null>>({ ...readStatement(all), values });
  const of = (control: AnyControl) => (found[0]?.[control.name] ?? []).map((row) => control.rowOf({ ...row }));
  const [termRows, counts, uses] = all.slice(-3).map(of);
  return { terms: termRows ?? [], counts: counts ?? [], uses: uses ?? [] };
}

describe('a new control that consists only of its definition', () => {
  it('inserts and updates rows, and moves the epoch that guards every batch', async () => {
    const mark = await epochMark();
    await appended({ changes: [put(quotaTerms, terms)], mark });
    expect((await rows()).terms).toEqual([terms]);
    await stale('controls', { changes: [put(quotaTerms, { ...terms, limit: 9 })], mark });
    await appended({ changes: [put(quotaTerms, { ...terms, limit: 7 })] });
    expect(await rows()).toEqual({ terms: [{ ...terms, limit: 7 }], counts: [counted(0, 0)], uses: [] });
  });

  it('counts rows under their revision without moving the epoch', async () => {
    await appended({ changes: [put(quotaTerms, terms)] });
    const mark = await epochMark();
    await appended({ changes: [put(quotas, counted(1, 0))], mark });
    expect((await rows()).counts).toEqual([counted(1, 1)]);
    await stale('quotas', { changes: [put(quotas, counted(1, 0))], mark });
    await appended({ reads: [{ control: quotas, rows: [counted(1, 1)] }], mark });
    await stale('quotas', { reads: [{ control: quotas, rows: [counted(0, 0)] }], mark });
  });

  it('drops a row only once', async () => {
    await appended({ changes: [put(quotaTerms, terms)] });
    await appended({ changes: [drop(quotas, counted(0, 0))] });
    expect((await rows()).terms).toEqual([]);
    await stale('quotas', { changes: [drop(quotas, counted(0, 0))] });
  });

  it('inserts a row with the same key only once', async () => {
    const use = put(quotaUses, { id: 'calls', order: 'first' });
    await appended({ changes: [use] });
    await stale('quota_uses', { changes: [use] });
    await appended({ changes: [put(quotaUses, { id: 'calls', order: 'second' })] });
    expect((await rows()).uses).toHaveLength(2);
  });

  it('has a trigger on every update of its table, except for columns guarded by a revision', () => {
    const guarding = 'BEFORE INSERT OR DELETE OR TRUNCATE OR UPDATE';
    const generated = (list: readonly unknown[]) => ledgerFunctions(list as readonly AnyControl[], ''); // own row types
    expect(generated([quotaTerms])).toContain(`${guarding}\n  ON quotas `);
    const resetting = { ...quotaTerms, columns: ['quota_id', 'limit', 'taken'] };
    expect(generated([resetting, quotas])).toContain(`${guarding} OF\n    quota_id, "limit"\n  ON quotas `);
  });
});
