import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { controls } from '../src/controls.ts';
import type { AnyControl } from '../src/ledger/control.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

/** A kernel whose database has the controls as functions and triggers. Each control is also a TypeScript module. */
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
});
afterAll(() => test.close());

async function sourceOf(name: string): Promise<string> {
  const { rows } = await test.pool.query<{ source: string }>(
    `SELECT string_agg(pg_get_functiondef(oid), '') AS source FROM pg_proc WHERE proname = $1 AND pronamespace = current_schema()::regnamespace`,
    [name],
  );
  return rows[0]?.source ?? '';
}

const namesIn = (source: string, pattern: RegExp): string[] =>
  [...source.matchAll(pattern)].map(([, name = '']) => name);
const namesOf = (chosen: readonly AnyControl[]): string[] => chosen.map(({ name }) => name).sort();
/** The members that a function accepts in its parameter `what`. */
const knownIn = (source: string, what: string): string[] =>
  namesIn(
    new RegExp(`refuse_unknown\\('${what}', ${what}, ARRAY\\[([^\\]]*)\\]`).exec(source)?.[1] ?? '',
    /'(\w+)'/g,
  ).sort();

/**
 * Tables whose changes need not move the epoch. Tuples are written together with their head, whose change moves the
 * epoch. A dispatch is found by its own key, and deleted when it is settled.
 */
const moveNothing = ['relation_tuples', 'dispatches'];

/** Controls that `append` must still accept as reads, because older kernels send them during a rolling update. */
const ofOlderKernels = ['dispatches', 'fences'];

/** The tables whose rows a control reads. */
function tablesOf({ select }: AnyControl): string[] {
  const source = select((index) => `$${index}`);
  return [...new Set(namesIn(source, /\b(?:FROM|JOIN) (\w+)/g))].filter(
    (name) => name !== 'unnest' && !moveNothing.includes(name),
  );
}

describe('each control', () => {
  verifies('kn.atomic', 'has its rows written by append, which refuses rows of unknown controls', async () => {
    const written = controls.filter(({ stored }) => stored !== undefined);
    const [put, append] = [await sourceOf('put_rows'), await sourceOf('append')];
    const pattern = /PERFORM put_(\w+)\(puts ->/g;
    expect([...namesIn(put, pattern), ...namesIn(append, pattern)].sort()).toEqual(namesOf(written));
    expect(knownIn(put, 'puts')).toEqual(namesOf(written));
    const unknown = test.pool.query(`SELECT put_rows('{"fences": [], "quotas": []}')`);
    await expect(unknown).rejects.toThrow('append knows no puts of quotas');
  });

  it('has its reads compared by append when it sets comparesReads, and append can drop only dispatches', async () => {
    const append = await sourceOf('append');
    const compared = namesOf(controls.filter(({ comparesReads }) => comparesReads));
    expect(namesIn(append, /PERFORM check_(\w+)\(reads ->/g)).toEqual(compared);
    expect(knownIn(append, 'reads')).toEqual([...compared, ...ofOlderKernels].sort());
    expect([namesIn(append, /PERFORM drop_(\w+)\(drops ->/g), knownIn(append, 'drops')]).toEqual([
      ['dispatches'],
      ['dispatches'],
    ]);
  });

  verifies('kn.atomic', 'with the guard epoch or row moves the epoch when one of its tables changes', async () => {
    const { rows } = await test.pool.query<{ table: string }>(
      `SELECT tgrelid::regclass::text AS table FROM pg_trigger WHERE tgname = 'moves_the_epoch' AND tgenabled = 'O'`,
    );
    const moving = rows.map(({ table }) => table);
    const tables = controls.filter(({ guard }) => guard === 'epoch' || guard === 'row').flatMap(tablesOf);
    expect(tables).toEqual(
      expect.arrayContaining(['fences', 'policy_heads', 'mcp_servers', 'mcp_tools', 'budgets', 'relation_heads']),
    );
    expect(tables.filter((table) => !moving.includes(table))).toEqual([]);
  });

  it('moves the epoch on each update, except of columns that a revision guards or no decision reads', async () => {
    const { rows } = await test.pool.query<{ table: string; column: string }>(
      `SELECT t.tgrelid::regclass::text AS table, a.attname AS column
         FROM pg_trigger t JOIN pg_attribute a ON a.attrelid = t.tgrelid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE t.tgname = 'moves_the_epoch' AND cardinality(t.tgattr::int2[]) > 0 AND a.attnum <> ALL (t.tgattr::int2[])`,
    );
    const free = controls.flatMap(({ guard, writes, columns = [] }) => {
      const counted = guard === 'row' && writes?.put.kind === 'update' ? columns : [];
      const outside = counted.filter((column) => writes?.primaryKey.includes(column) === false);
      return [...outside, ...(writes?.unread ?? [])].map((column) => `${writes?.table}.${column}`);
    });
    expect(rows.map(({ table, column }) => `${table}.${column}`).sort()).toEqual([...new Set(free)].sort());
    expect(free).toEqual(
      expect.arrayContaining(['access_keys.last_used_at', 'budgets.revision', 'fences.calls_taken']),
    );
  });
});
