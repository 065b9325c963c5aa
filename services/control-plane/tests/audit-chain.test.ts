import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UserId, WorkspaceId } from '@countersign/contracts';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import pg from 'pg';
import { recordAudit } from '../src/store/audit.ts';
import { openControlPlaneDatabase, type ControlPlaneDatabase, type Tx } from '../src/store/database.ts';

const personOf = (digit: string) => UserId.parse(`usr_${digit.repeat(26)}`);
const workspaceOf = (digit: string) => WorkspaceId.parse(`wsp_${digit.repeat(26)}`);
const person = personOf('1');
let scratch: TestDatabase;
let database: ControlPlaneDatabase;
let administrator: pg.Client;

beforeAll(async () => {
  const serviceDir = fileURLToPath(new URL('..', import.meta.url));
  scratch = await createTestDatabase({ serviceDir, schema: 'control_plane' });
  database = openControlPlaneDatabase(scratch.url);
  administrator = new pg.Client({ connectionString: scratch.adminUrl, options: '-c search_path=control_plane' });
  await administrator.connect();
});

afterAll(async () => {
  await administrator?.end();
  await database?.close();
  await scratch?.drop();
});

const act = { action: 'test.done', actor: person, verdict: 'allow' } as const;
const recordIn = (tx: Tx, scope: UserId | WorkspaceId) => recordAudit(tx, { ...act, scope }, new Date());
const record = (scope: UserId | WorkspaceId) => database.transaction((tx) => recordIn(tx, scope));

describe('a chain of the control plane', () => {
  it('has consecutive entries from the first one, even with concurrent writers', async () => {
    await Promise.all(Array.from({ length: 12 }, () => record(person)));
    const entries = await database.reader.auditEntry.findMany({ where: { scope: person }, orderBy: { seq: 'asc' } });
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
    expect(entries.slice(1).map(({ prevHash }) => prevHash)).toEqual(entries.slice(0, -1).map(({ hash }) => hash));
    const head = await database.reader.auditHead.findUnique({ where: { scope: person } });
    expect(head).toMatchObject({ seq: 12, hash: entries.at(-1)?.hash });
  });

  it('does not block writers of another chain', async () => {
    const workspace = workspaceOf('1');
    await database.transaction(async (tx) => {
      await recordIn(tx, personOf('2'));
      await record(workspace);
    });
    expect(await database.reader.auditEntry.count({ where: { scope: workspace } })).toBe(1);
  });

  it('accepts no entry when its head is missing, and services cannot change or delete its entries', async () => {
    const workspace = workspaceOf('2');
    await record(workspace);
    await administrator.query('DELETE FROM audit_heads WHERE scope = $1', [workspace]);
    await expect(record(workspace)).rejects.toThrow();
    const service = new pg.Client({ connectionString: scratch.url, options: '-c search_path=control_plane' });
    await service.connect();
    for (const statement of ['DELETE FROM audit_entries', `UPDATE audit_entries SET actor = 'mallory'`])
      await expect(service.query(statement)).rejects.toThrow('permission denied');
    await service.end();
  });
});
