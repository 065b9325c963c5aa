import type { TestDatabase } from '@countersign/database/testing';
import pg from 'pg';
import { untilAnswered } from '@countersign/testkit/until';

/** The place where statements are halted, before their rows are written. `when` is a condition on NEW. */
export type HaltAt = { schema: string; table: string; when: string };
export type Halt = {
  /** Waits until this number of statements is halted, or blocked by a halted one. */
  reached(count?: number): Promise<void>;
  release(): Promise<void>;
};

const lock = 7_714;
let halts = 0;

/** Halts statements of a service inside their transaction, so that its process can be killed at exactly that moment. */
export async function haltAt({ adminUrl }: TestDatabase, { schema, table, when }: HaltAt): Promise<Halt> {
  const client = new pg.Client({ connectionString: adminUrl, options: `-c search_path=${schema}` });
  await client.connect();
  const name = `halt_${(halts += 1)}`;
  await client.query(`
    CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
      AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(${lock}); RETURN NEW; END';
    CREATE TRIGGER ${name} BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION ${name}();
    SELECT pg_advisory_lock(${lock})`);
  const current = async () => {
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return (await client.query(waiting)).rows.length;
  };
  return {
    reached: async (count = 1) => void (await untilAnswered(async () => (await current()) >= count)),
    release: async () => {
      await client.query(`SELECT pg_advisory_unlock(${lock})`);
      await untilAnswered(async () => (await current()) === 0);
      await client.query(`DROP TRIGGER ${name} ON ${table}; DROP FUNCTION ${name}()`);
      await client.end();
    },
  };
}
