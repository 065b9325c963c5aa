import { untilReachable } from '@countersign/testkit/until';
import pg from 'pg';
import { asAdministrator } from './_administrator.ts';
import type { TestKernel } from './_kernel.ts';

/** Any number that no other lock of the database has. Each table has its own lock beside it. */
const firstLock = 471_100;

export type HeldStatement = {
  /** Waits until a statement of a kernel is held. */
  reached(): Promise<void>;
  /** Lets the held statement and later ones pass. */
  release(): Promise<void>;
  /** Ends the held statement, so that its transaction never commits, and lets later statements pass. */
  end(): Promise<void>;
};

/**
 * Holds each statement before it changes a row of the table, so that a test can kill the kernel between two steps.
 * Each table may be held once at a time. A statement that inserts or updates counts as an insert.
 */
export async function holdStatement(
  test: TestKernel,
  at: `${'INSERT' | 'UPDATE'} ON ${string}`,
): Promise<HeldStatement> {
  const table = at.slice(at.lastIndexOf(' ') + 1);
  const lock = firstLock + ([...table].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 0) % 1_000_003);
  const holder = new pg.Client({ connectionString: test.database.adminUrl });
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock($1)', [lock]);
  await asAdministrator(
    test,
    `CREATE FUNCTION held_${table}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
       BEGIN PERFORM pg_advisory_xact_lock_shared(${lock}); RETURN NEW; END $$;
     CREATE TRIGGER held BEFORE ${at} FOR EACH ROW EXECUTE FUNCTION held_${table}()`,
  );
  const waiting = async () => {
    const { rows } = await holder.query<{ pid: number }>(
      `SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.objid = $1 AND NOT l.granted`,
      [lock],
    );
    return rows.map(({ pid }) => pid);
  };
  return {
    reached: () => untilReachable(async () => (await waiting()).length > 0),
    release: async () => {
      await holder.query('SELECT pg_advisory_unlock($1)', [lock]);
    },
    end: async () => {
      for (const pid of await waiting()) await holder.query('SELECT pg_terminate_backend($1)', [pid]);
      await untilReachable(async () => (await waiting()).length === 0);
      await holder.query('SELECT pg_advisory_unlock_all()');
      await asAdministrator(test, `DROP TRIGGER held ON ${table}; DROP FUNCTION held_${table}`);
      await holder.end();
    },
  };
}
