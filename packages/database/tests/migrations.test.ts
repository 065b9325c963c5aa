import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { diffMigration, migrate } from '../src/index.ts';
import { createTestDatabase } from '../src/testing.ts';
import type { TestDatabase } from '../src/testing.ts';
import { withClient } from '../src/with-client.ts';
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
  while (!(await isSo())) await delay(10);
}

describe('migrate', () => {
  it('applies each migration once when several replicas start together', async () => {
    await addMigration('20260201000000_extra', 'CREATE TABLE extra (id TEXT PRIMARY KEY);');
    const applied = await Promise.all([run(), run(), run(), run()]);
    expect(applied.flat()).toEqual(['20260201000000_extra']);
  });

  it('leaves nothing of a migration that fails, and applies the corrected one', async () => {
    await addMigration('20260201000000_extra', 'CREATE TABLE extra (id TEXT); SELECT 1 / 0;');
    await expect(run()).rejects.toThrow(/division by zero/);
    expect(await tableExists('extra')).toBe(false);
    await addMigration('20260201000000_extra', 'CREATE TABLE extra (id TEXT);');
    expect(await run()).toEqual(['20260201000000_extra']);
  });

  it('gives way to what works on a table meanwhile, and comes after it', async () => {
    await addMigration('20260201000000_extra', 'CREATE TABLE extra (id TEXT);');
    const [holds, wants] = ['ALTER TABLE receipts ADD COLUMN stars INT;', `UPDATE notes SET text = 'b';`];
    await addMigration('20260202000000_stars', `${holds} ${wants}`);
    const { migrated, waitedMs } = await withClient(scratch.adminUrl, async (client) => {
      // PostgreSQL ends nobody's work for a deadlock in this test.
      const database = new URL(scratch.adminUrl).pathname.slice(1);
      await client.query(`ALTER DATABASE ${database} SET deadlock_timeout = '60s'; SET deadlock_timeout = '60s'`);
      await client.query(`SET search_path = ${schemaName}; INSERT INTO notes (id, text) VALUES ('1', 'a')`);
      await client.query(`BEGIN; UPDATE notes SET text = 'c'`);
      const migrated = run();
      await until(migrationWaits);
      // It waits for us, and now we wait for it.
      const askedAt = Date.now();
      await client.query('SELECT * FROM receipts');
      const waitedMs = Date.now() - askedAt;
      await client.query('COMMIT');
      return { migrated: await migrated, waitedMs };
    });
    expect(migrated).toEqual(['20260201000000_extra', '20260202000000_stars']);
    expect(waitedMs).toBeLessThan(10_000);
  });

  it('writes the SQL that the migrations lack, and nothing once they have it', async () => {
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
