import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { migrate } from '../src/index.ts';
import { createTestDatabase, diffMigration } from '../src/testing.ts';
import type { TestDatabase } from '../src/testing.ts';
import { withClient } from '../src/with-client.ts';
import { cuttingProxy } from './cutting-proxy.ts';
import { fixtureServiceDir } from './fixture.ts';

const schemaName = 'kernel';
let scratch: TestDatabase;
let serviceDir: string;

beforeEach(async () => {
  scratch = await createTestDatabase({ serviceDir: fixtureServiceDir, schema: schemaName });
  serviceDir = await mkdtemp(join(tmpdir(), 'countersign-service-'));
  await cp(fixtureServiceDir, serviceDir, { recursive: true });
});

afterEach(async () => {
  await scratch.drop();
  await rm(serviceDir, { recursive: true });
});

async function addMigration(name: string, sql: string): Promise<void> {
  const folder = join(serviceDir, 'prisma', 'migrations', name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'migration.sql'), sql);
}

function run(): Promise<string[]> {
  return migrate({ url: scratch.adminUrl, schema: schemaName, role: scratch.role, serviceDir });
}

async function tableExists(name: string): Promise<unknown> {
  return withClient(scratch.adminUrl, async (client) => {
    const { rows } = await client.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [
      `${schemaName}.${name}`,
    ]);
    return rows[0]?.found;
  });
}

function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  return withClient(url, async (client) => (await client.query<Record<string, unknown>>(sql)).rows);
}

/** Rows of the tables `extra` and `more`, and the number of entries of the last migration in the history. */
async function appliedScripts(url: string): Promise<unknown> {
  const [row] = await query(
    url,
    `SELECT (SELECT count(*)::int FROM ${schemaName}.extra) AS extra, (SELECT count(*)::int FROM ${schemaName}.more) AS more,
            (SELECT count(*)::int FROM ${schemaName}._prisma_migrations WHERE migration_name LIKE '%more') AS history`,
  );
  return Object.values(row ?? {});
}

function migrationWaits(): Promise<boolean> {
  return withClient(scratch.adminUrl, async (client) => {
    const ofMigration = `datname = current_database() AND application_name = 'countersign-migrate'`;
    const { rows } = await client.query(
      `SELECT FROM pg_stat_activity WHERE ${ofMigration} AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(10); // between two reads of the state
}

describe('the migration tool', () => {
  it('applies each migration once when several replicas start together', async () => {
    await addMigration('20260201000000_extra', 'CREATE TABLE extra (id TEXT PRIMARY KEY);');
    const applied = await Promise.all([run(), run(), run(), run()]);
    expect(applied.flat()).toEqual(['20260201000000_extra']);
  });

  it('rolls back a migration that fails, and applies the corrected one', async () => {
    await addMigration('20260201000000_extra', 'CREATE TABLE extra (id TEXT); SELECT 1 / 0;');
    await expect(run()).rejects.toThrow(/division by zero/);
    expect(await tableExists('extra')).toBe(false);
    await addMigration('20260201000000_extra', 'CREATE TABLE extra (id TEXT);');
    expect(await run()).toEqual(['20260201000000_extra']);
  });

  it.each([
    ['does not reach', false],
    ['still reaches', true],
  ])('continues after a kill at any packet, when the last packet %s PostgreSQL', async (_, delivered) => {
    await addMigration('20260201000000_extra', 'CREATE TABLE extra (id TEXT); INSERT INTO extra VALUES (1);');
    await addMigration('20260202000000_more', 'CREATE TABLE more (id TEXT); INSERT INTO more VALUES (1);');
    let packets = 1;
    for (let isCut = true; isCut; packets += 1) {
      const copy = await scratch.copy();
      const place = { schema: schemaName, role: copy.role, serviceDir };
      const proxy = await cuttingProxy(copy.adminUrl, { packets, delivered });
      await Promise.allSettled([migrate({ url: proxy.url, ...place })]);
      isCut = proxy.hasCut();
      await proxy.close();
      await migrate({ url: copy.adminUrl, ...place });
      expect(await appliedScripts(copy.adminUrl)).toEqual([1, 1, 1]);
      await copy.drop();
    }
    // Each of the two scripts has BEGIN, script, row and COMMIT, with more packets before and after.
    expect(packets).toBeGreaterThan(12);
  });

  it('writes a history that Prisma can continue: one finished row per script, with its checksum', async () => {
    const sql = 'CREATE TABLE extra (id TEXT PRIMARY KEY);';
    await addMigration('20260201000000_extra', sql);
    await run();
    const rows = await query(
      scratch.adminUrl,
      `SELECT migration_name, checksum, applied_steps_count, logs, rolled_back_at, finished_at >= started_at AS ended
         FROM ${schemaName}._prisma_migrations ORDER BY migration_name DESC LIMIT 1`,
    );
    const checksum = createHash('sha256').update(sql).digest('hex');
    const row = { migration_name: '20260201000000_extra', checksum, applied_steps_count: 1, ended: true };
    expect(rows).toEqual([{ ...row, logs: null, rolled_back_at: null }]);
  });

  it('gives way to other statements on a table, and applies its migration after them', async () => {
    await addMigration('20260201000000_extra', 'CREATE TABLE extra (id TEXT);');
    const [holds, wants] = ['ALTER TABLE receipts ADD COLUMN stars INT;', `UPDATE notes SET text = 'b';`];
    await addMigration('20260202000000_stars', `${holds} ${wants}`);
    const migrated = await withClient(scratch.adminUrl, async (client) => {
      // With this long timeout, PostgreSQL cancels no statement because of a deadlock in this test.
      const database = new URL(scratch.adminUrl).pathname.slice(1);
      await client.query(`ALTER DATABASE ${database} SET deadlock_timeout = '1h'; SET deadlock_timeout = '1h'`);
      await client.query(`SET search_path = ${schemaName}; INSERT INTO notes (id, text) VALUES ('1', 'a')`);
      await client.query(`BEGIN; UPDATE notes SET text = 'c'`);
      const running = run();
      await until(migrationWaits);
      // The migration waits for this transaction. Now this transaction waits for the migration.
      await client.query('SELECT * FROM receipts');
      await client.query('COMMIT');
      return await running;
    });
    expect(migrated).toEqual(['20260201000000_extra', '20260202000000_stars']);
  });

  it('writes changed functions after the tables, and nothing once the migrations contain them', async () => {
    const storeDir = join(serviceDir, 'src', 'store');
    await mkdir(storeDir, { recursive: true });
    const same = `-- Counts.\nCREATE OR REPLACE FUNCTION one() RETURNS int LANGUAGE plpgsql AS $$\nBEGIN\n  RETURN 1;\nEND $$;`;
    const rule = 'CREATE OR REPLACE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;';
    const trigger = 'CREATE OR REPLACE TRIGGER passes BEFORE INSERT ON extra\n  FOR EACH ROW EXECUTE FUNCTION pass();';
    await writeFile(join(storeDir, 'test-functions.sql'), [same, rule, trigger].join('\n\n'));
    const schema = join(serviceDir, 'prisma', 'schema.prisma');
    await writeFile(schema, `${await readFile(schema, 'utf8')}\nmodel Extra {\n  id String @id\n  @@map("extra")\n}\n`);
    await addMigration('20260201000000_one', same);
    const sql = (await diffMigration({ adminUrl: scratch.adminUrl, serviceDir })) ?? '';
    expect(sql).toContain('CREATE TABLE "extra"');
    expect(sql.slice(sql.indexOf('CREATE OR REPLACE'))).toBe(`${rule}\n\n${trigger}\n`);
    await addMigration('20260202000000_extra', sql);
    expect(await diffMigration({ adminUrl: scratch.adminUrl, serviceDir })).toBeNull();
    await writeFile(join(storeDir, 'test-functions.sql'), same.slice(0, -5));
    await expect(diffMigration({ adminUrl: scratch.adminUrl, serviceDir })).rejects.toThrow('incomplete statement');
  });

  it('writes the SQL that the migrations lack, and nothing once they contain it', async () => {
    expect(await diffMigration({ adminUrl: scratch.adminUrl, serviceDir })).toBeNull();
    const schema = join(serviceDir, 'prisma', 'schema.prisma');
    const relation = 'receipt Receipt? @relation(fields: [id], references: [id])';
    const text = (await readFile(schema, 'utf8')).replace('text String', `text String\n  ${relation}`);
    await writeFile(schema, text.replace('@@map("receipts")', 'note Note?\n  @@map("receipts")'));
    const sql = (await diffMigration({ adminUrl: scratch.adminUrl, serviceDir })) ?? '';
    expect(sql).toContain('ADD CONSTRAINT "notes_id_fkey" FOREIGN KEY ("id") REFERENCES "receipts"("id")');
    await addMigration('20260201000000_relation', sql);
    expect(await diffMigration({ adminUrl: scratch.adminUrl, serviceDir })).toBeNull();
  });
});
