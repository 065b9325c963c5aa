import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UserId, WorkspaceId } from '@countersign/contracts';
import { findAuditEnd, listAuditEntries, listAuditFrom, recordAudit } from '../src/store/audit.ts';
import type { ControlPlaneDatabase } from '../src/store/database.ts';
import { FilledDatabase } from './_filled-database.ts';

const rows = 100_000;
const long = WorkspaceId.parse(`wsp_${'0'.repeat(26)}`);
const short = UserId.parse(`usr_${'7'.padStart(26, '0')}`);
const began = Date.UTC(2026, 0, 1);
const instantOf = (nth: number) => new Date(began + nth * 1_000).toISOString();
const bound = { rows: 100, pages: 300 };
let filled: FilledDatabase;
let database: ControlPlaneDatabase;

beforeAll(async () => {
  filled = await FilledDatabase.open(fillSql);
  database = filled.opened;
});

afterAll(() => filled?.close());

/** One chain has most of the entries, and a thousand chains have the rest. Rare values are in old entries. */
const digest = `sha256:${'a'.repeat(64)}`;
const chain = `CASE WHEN n % 10 < 7 THEN '${long}' ELSE 'usr_' || lpad((n % 1000)::text, 26, '0') END`;
const word = (rare: string, usual: string) => `CASE WHEN n < 100 THEN '${rare}' ELSE '${usual}' END`;
const fillSql = `
  INSERT INTO audit_entries
  SELECT ${chain}, n + 1, 'aud_' || n, ${word('rare.action', 'session.opened')}, ${word('usr_rare', 'usr_ada')}, ${word('deny', 'allow')}, 'ok', NULL,
         '{}', NULL, '${instantOf(0)}'::timestamptz + n * interval '1 second', '${digest}', '${digest}' FROM generate_series(1, ${rows}) n;
  INSERT INTO audit_heads SELECT scope, max(seq), '${digest}' FROM audit_entries GROUP BY scope;
  ANALYZE`;

/** Values of each filter: one that few entries have, and one that most have. */
const values: Record<string, string[]> = {
  action: ['rare.action', 'session.opened'],
  actor: ['usr_rare', 'usr_ada'],
  verdict: ['deny', 'allow'],
  from: [instantOf(50), instantOf(rows - 100)],
  to: [instantOf(50), instantOf(rows * 2)],
};

const filters = Object.keys(values);
const single = filters.flatMap((name) => (values[name] ?? []).map((value) => ({ [name]: value })));
const pairs = filters.flatMap((name, at) =>
  filters.slice(at + 1).map((candidate) => ({ [name]: values[name]?.[0], [candidate]: values[candidate]?.[0] })),
);

describe('on long chains', () => {
  it('a page reads no more rows than it returns, for any filter', async () => {
    const plans = await filled.during(async () => {
      for (const scope of [long, short])
        for (const filter of [{}, ...single, ...pairs]) {
          const { next_cursor: cursor } = await listAuditEntries(database.reader, scope, { ...filter, limit: 50 });
          if (cursor !== null) await listAuditEntries(database.reader, scope, { ...filter, limit: 50, cursor });
        }
      await listAuditFrom(database.reader, { scope: long, seq: rows / 2, limit: 50 });
      await findAuditEnd(database.reader, long);
    });
    expect(plans.length).toBeGreaterThan(single.length + pairs.length);
    expect(await filled.findGrowing(plans, bound)).toEqual([]);
  });

  it('writing an entry reads only the end of its own chain', async () => {
    const act = { action: 'session.opened', actor: 'usr_ada', verdict: 'allow' } as const;
    const plans = await filled.during(() =>
      database.transaction(async (tx) => {
        for (const scope of [long, short]) await recordAudit(tx, { ...act, scope }, new Date());
      }),
    );
    expect(plans.length).toBeGreaterThan(6);
    expect(await filled.findGrowing(plans, { rows: 1, pages: bound.pages })).toEqual([]);
  });

  it.each(['action', 'actor', 'verdict'])('a missing index is detected: %s', async (filter) => {
    const index = `audit_entries_scope_${filter}_seq_idx`;
    await filled.administer(`DROP INDEX ${index}`);
    const request = { [filter]: values[filter]?.[0], limit: 50 };
    const plans = await filled.during(() => listAuditEntries(database.reader, long, request));
    await filled.administer(`CREATE INDEX ${index} ON audit_entries (scope, ${filter}, seq)`);
    expect(await filled.findGrowing(plans, bound)).not.toEqual([]);
  });
});
