import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import pg from 'pg';
import { controls } from '../src/controls.ts';
import type { AnyControl } from '../src/ledger/control.ts';
import { writtenControls } from '../src/store/control-functions.ts';
import { ledgerFunctions } from '../src/store/ledger-functions.ts';
import { serviceDir } from './_service-dir.ts';

const read = (name: string) => readFile(join(serviceDir, 'src', 'store', name), 'utf8');

let scratch: TestDatabase;
let administrator: pg.Client;
beforeAll(async () => {
  scratch = await createTestDatabase({ serviceDir, schema: 'kernel' });
  administrator = new pg.Client({ connectionString: scratch.adminUrl, options: '-c search_path=kernel' });
  await administrator.connect();
});
afterAll(async () => {
  await administrator?.end();
  await scratch?.drop();
});

/** The functions and triggers of the schema, as PostgreSQL prints them. */
async function definitions(): Promise<string[]> {
  const { rows } = await administrator.query<{ definition: string }>(`
    SELECT pg_get_functiondef(oid) AS definition FROM pg_proc WHERE pronamespace = 'kernel'::regnamespace
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`);
  return rows.map(({ definition }) => definition);
}

const dropAll = `DO $$ DECLARE name regprocedure; BEGIN
  FOR name IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'kernel'::regnamespace LOOP
    EXECUTE format('DROP FUNCTION IF EXISTS %s CASCADE', name);
  END LOOP;
END $$`;

describe('ledger-functions.sql', () => {
  it('is generated from the controls; run `make gen` after a change', async () => {
    expect(await read('ledger-functions.sql')).toBe(ledgerFunctions(controls, await read('ledger-functions.base.sql')));
  });

  it('defines the same functions and triggers as the migrations', async () => {
    const migrated = await definitions();
    await administrator.query('BEGIN');
    await administrator.query(dropAll);
    expect(await definitions()).toEqual([]);
    await administrator.query(await read('ledger-functions.sql'));
    expect(await definitions()).toEqual(migrated);
    await administrator.query('ROLLBACK');
  });

  it('cannot be generated for a control that lacks stored, writes or columns', () => {
    const control = writtenOf('tool_blocks');
    for (const member of ['stored', 'writes', 'columns'] as const) {
      const { [member]: _, ...incomplete } = control;
      expect(() => writtenControls([incomplete])).toThrow('tool_blocks needs stored, writes and columns');
    }
  });
});

function writtenOf(name: string): AnyControl {
  const control = controls.find((one) => one.name === name);
  if (control === undefined) throw new Error(`There is no control ${name}`);
  return control;
}
