import { expect, it } from '@jest/globals';
import { createTestDatabase } from '../src/testing.ts';
import { withClient } from '../src/with-client.ts';
import { fixtureServiceDir } from './fixture.ts';

const owner = 'text';

const tables = {
  notes: { columns: { id: `'twin of ' || NEW.id`, text: `'theirs'` } },
  // A table whose rows get no twins, and whose owner has another name.
  receipts: { owner: 'id', columns: {}, of: 'false' },
};

/** Runs a statement of a service, or of the administrator, beside a note that has a twin. Then drops the database. */
async function afterwards(act: string, by: 'url' | 'adminUrl' = 'url'): Promise<void> {
  const twins = { owner, without: [], tables };
  const database = await createTestDatabase({ serviceDir: fixtureServiceDir, schema: 'kernel', twins });
  await withClient(database.url, async (client) => {
    await client.query(`INSERT INTO kernel.notes (id, text) VALUES ('note', 'ours')`);
  });
  await withClient(database[by], (client) => client.query(act));
  await database.drop();
}

it('dropping a test database succeeds after statements that change only rows of their own owner', async () => {
  const own = [
    `UPDATE kernel.notes SET id = 'other' WHERE text = 'ours'`,
    `DELETE FROM kernel.notes WHERE text = 'ours'`,
    `DELETE FROM kernel.notes WHERE text = 'ours'; INSERT INTO kernel.notes (id, text) VALUES ('note', 'ours')`,
  ];
  for (const act of own) await expect(afterwards(act)).resolves.toBeUndefined();
});

it('dropping a test database fails after statements that change, remove or add rows of another owner', async () => {
  const foreign = [
    [`UPDATE kernel.notes SET id = id || '!'`, 'is no more as it was'],
    [`DELETE FROM kernel.notes`, 'is no more as it was'],
    [`INSERT INTO kernel.notes (id, text) VALUES ('more', 'theirs')`, 'notes: was not made with its twin'],
    [`INSERT INTO kernel.receipts (id, body) VALUES ('theirs', '{}')`, 'receipts: was not made with its twin'],
  ] as const;
  for (const [act, report] of foreign) await expect(afterwards(act)).rejects.toThrow(report);
  await expect(afterwards('TRUNCATE kernel.notes', 'adminUrl')).rejects.toThrow('is no more as it was');
});

it('creating a test database fails for a table that lacks twins and is not excepted', async () => {
  const twins = { owner, without: [], tables: {} };
  const creating = createTestDatabase({ serviceDir: fixtureServiceDir, schema: 'kernel', twins });
  await expect(creating).rejects.toThrow('The rows of notes have no twins');
});
