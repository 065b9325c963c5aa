import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { recordEntry, tellEntry, type AuditFacts, type AuditRow } from '@countersign/audit';
import { nodeProvider } from '@countersign/crypto/node';
import { inTransaction, openDatabase, type Database } from '@countersign/database';
import { AuditVerification } from '@countersign/verifier';

const schema = `audit_test_${randomBytes(6).toString('hex')}`;
type Client = Parameters<Parameters<typeof inTransaction>[1]>[0];
let database: Database;

beforeAll(async () => {
  const url = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
  database = openDatabase({ url, schema });
  await database.pool.query(`CREATE SCHEMA ${schema}`);
  await database.pool.query(`
    CREATE TABLE audit_heads (scope text PRIMARY KEY, seq integer NOT NULL, hash text NOT NULL);
    CREATE TABLE audit_entries (scope text, seq integer, entry jsonb NOT NULL, PRIMARY KEY (scope, seq))`);
});

afterAll(async () => {
  await database?.pool.query(`DROP SCHEMA ${schema} CASCADE`);
  await database?.close();
});

let chains = 0;

/** Creates a chain, and returns its workspace. */
async function beginChain(): Promise<string> {
  chains += 1;
  const scope = `wsp_${String(chains).padStart(26, '0')}`;
  await database.pool.query(`INSERT INTO audit_heads VALUES ($1, 0, '')`, [scope]);
  return scope;
}

const contentIn =
  (workspaceId: string) =>
  ({ id, ...facts }: AuditFacts) => ({ id, workspaceId, ...facts });

async function append(client: Client, scope: string, nth: number): Promise<void> {
  const end = {
    contentOf: contentIn(scope),
    lockHead: async () => {
      const { rows } = await client.query<{ seq: number; hash: string }>(
        'SELECT seq, hash FROM audit_heads WHERE scope = $1 FOR UPDATE',
        [scope],
      );
      if (rows[0] === undefined) throw new Error('This chain was not begun');
      return rows[0];
    },
    append: async (row: AuditRow) => {
      await client.query('INSERT INTO audit_entries VALUES ($1, $2, $3)', [scope, row.seq, row]);
      await client.query('UPDATE audit_heads SET seq = $2, hash = $3 WHERE scope = $1', [scope, row.seq, row.hash]);
    },
  };
  const act = { action: 'test.done', actor: 'ada', verdict: 'allow', details: { nth } } as const;
  await recordEntry(end, act, { id: `aud_${nth}`, now: new Date() });
}

const appendAlone = (scope: string, nth: number) => inTransaction(database.pool, (tx) => append(tx, scope, nth));

/** The first fault that an auditor finds in a chain. `null` when there is none. */
async function faultIn(workspaceId: string): Promise<string | null> {
  const { rows } = await database.pool.query<{ entry: AuditRow }>(
    'SELECT entry FROM audit_entries WHERE scope = $1 ORDER BY seq',
    [workspaceId],
  );
  const head = await database.pool.query<{ seq: number; hash: string }>(
    'SELECT seq, hash FROM audit_heads WHERE scope = $1',
    [workspaceId],
  );
  const entries = rows.map(({ entry }) => ({ ...entry, createdAt: new Date(entry.createdAt) }));
  const lines = [
    { format: 'countersign/audit-export.v1', workspaceId, exportedAt: new Date().toISOString() },
    ...entries.map((row) => tellEntry(row, contentIn(workspaceId))),
    { end: head.rows[0] },
  ];
  const verification = new AuditVerification({ provider: nodeProvider });
  for (const line of lines) verification.take(JSON.stringify(line));
  const { fault, verdict } = verification.report();
  return fault?.code ?? (verdict === 'VERIFIED' ? null : verdict);
}

describe('a chain', () => {
  it('has no gaps when many writers append at once', async () => {
    const ours = await beginChain();
    await Promise.all(Array.from({ length: 30 }, (_, nth) => appendAlone(ours, nth)));
    expect(await faultIn(ours)).toBeNull();
    const { rows } = await database.pool.query('SELECT seq FROM audit_heads WHERE scope = $1', [ours]);
    expect(rows).toEqual([{ seq: 30 }]);
  });

  it('does not wait for writers of another chain', async () => {
    const [ours, theirs] = [await beginChain(), await beginChain()];
    await inTransaction(database.pool, async (tx) => {
      await append(tx, ours, 1);
      await appendAlone(theirs, 1);
    });
    expect([await faultIn(ours), await faultIn(theirs)]).toEqual([null, null]);
  });

  it('has no entry for an act that was rolled back', async () => {
    const theirs = await beginChain();
    await appendAlone(theirs, 1);
    const failing = inTransaction(database.pool, async (tx) => {
      await append(tx, theirs, 2);
      throw new Error('the act failed');
    });
    await expect(failing).rejects.toThrow('the act failed');
    await appendAlone(theirs, 3);
    expect(await faultIn(theirs)).toBeNull();
  });

  it('fails its verification after a change of any member, or the removal of an entry', async () => {
    const ours = await beginChain();
    for (let nth = 1; nth <= 8; nth += 1) await appendAlone(ours, nth);
    const members: Partial<Record<keyof AuditRow, unknown>> = {
      id: 'x',
      action: 'x',
      actor: 'x',
      verdict: 'deny',
      reason: 'x',
      subject: 'x',
      details: '{}',
      requestId: 'x',
      createdAt: new Date(0),
    };
    for (const [member, value] of Object.entries(members)) {
      const { rows } = await database.pool.query<{ entry: object }>(
        'SELECT entry FROM audit_entries WHERE scope = $1 AND seq = 5',
        [ours],
      );
      const put = (entry: unknown) =>
        database.pool.query('UPDATE audit_entries SET entry = $2 WHERE scope = $1 AND seq = 5', [ours, entry]);
      await put({ ...rows[0]?.entry, [member]: value });
      expect([member, await faultIn(ours)]).toEqual([member, 'HASH_MISMATCH']);
      await put(rows[0]?.entry);
    }
    await database.pool.query('DELETE FROM audit_entries WHERE scope = $1 AND seq = 7', [ours]);
    expect(await faultIn(ours)).toBe('CHAIN_GAP');
  });
});
