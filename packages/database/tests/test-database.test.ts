import { afterAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../src/testing.ts';
import { withClient } from '../src/with-client.ts';
import { fixtureServiceDir } from './fixture.ts';

describe('a copy of a test database', () => {
  const opened: TestDatabase[] = [];

  afterAll(async () => {
    for (const database of opened) await database.drop();
  });

  async function notesOf({ url }: TestDatabase): Promise<unknown[]> {
    const query = 'SELECT id, text FROM kernel.notes ORDER BY id';
    return (await withClient(url, (client) => client.query<{ id: string; text: string }>(query))).rows;
  }

  async function addNote({ url }: TestDatabase, id: string): Promise<void> {
    await withClient(url, (client) => client.query(`INSERT INTO kernel.notes (id, text) VALUES ($1, 'a')`, [id]));
  }

  it('has the content of the original for the same role, and changes independently', async () => {
    const original = await createTestDatabase({ serviceDir: fixtureServiceDir, schema: 'kernel' });
    opened.push(original);
    await addNote(original, 'before');
    const copy = await original.copy();
    opened.push(copy);
    await addNote(original, 'original');
    await addNote(copy, 'copy');
    expect(await notesOf(original)).toEqual([
      { id: 'before', text: 'a' },
      { id: 'original', text: 'a' },
    ]);
    expect(await notesOf(copy)).toEqual([
      { id: 'before', text: 'a' },
      { id: 'copy', text: 'a' },
    ]);
  });
});
