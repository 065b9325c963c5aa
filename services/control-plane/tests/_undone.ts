import { fileURLToPath } from 'node:url';
import { createTestDatabase } from '@countersign/database/testing';
import { openControlPlaneDatabase, type Tx } from '../src/store/database.ts';

/** A database whose tests write in transactions that are rolled back, so each test sees only its own rows. */
export async function openUndone(): Promise<{
  undone<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}> {
  const serviceDir = fileURLToPath(new URL('..', import.meta.url));
  const scratch = await createTestDatabase({ serviceDir, schema: 'control_plane' });
  const database = openControlPlaneDatabase(scratch.url);
  return {
    undone: async <T>(work: (tx: Tx) => Promise<T>) => {
      const rollback = new RolledBack<T>();
      try {
        return await database.transaction<T>(async (tx) => {
          rollback.result = await work(tx);
          throw rollback;
        });
      } catch (error) {
        if (error === rollback) return rollback.result as T; // the result was set before the throw
        throw error;
      }
    },
    close: async () => {
      await database.close();
      await scratch.drop();
    },
  };
}

class RolledBack<T> extends Error {
  result?: T;
}

/** An id that sorts by its number. */
export const numbered = (prefix: string, number: number): string => `${prefix}_${String(number).padStart(26, '0')}`;

/** A time, this number of seconds after the current time of the tests. */
export const at = (seconds: number): Date => new Date(Date.UTC(2026, 10, 1, 10) + seconds * 1000);

export const now = at(0);
