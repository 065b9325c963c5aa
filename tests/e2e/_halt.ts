import type { TestDatabase } from '@countersign/database/testing';
import pg from 'pg';
import { untilAnswered } from '@countersign/testkit/until';

/** Where statements stand still, before what they write is there. `when` is a condition on NEW. */
export type HaltAt = { schema: string; table: string; when: string };
export type Halt = {
  /** Waits until this number of statements is at the halt, or behind those that are. */
  reached(count?: number): Promise<void>;
  release(): Promise<void>;
};

const lock = 7_714;
let halts = 0;

/** Holds statements of a service up inside their transaction, so that its process can be killed at that very moment. */
export async function haltAt({ adminUrl }: TestDatabase, { schema, table, when }: HaltAt): Promise<Halt> {
  const client = new pg.Client({ connectionString: adminUrl, options: `-c search_path=${schema}` });
  await client.connect();
  const name = `halt_${(halts += 1)}`;
  await client.query(`
    CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
      AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(${lock}); RETURN NEW; END';
    CREATE TRIGGER ${name} BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION ${name}();
    SELECT pg_advisory_lock(${lock})`);
  const standing = async () => {
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return (await client.query(waiting)).rows.length;
  };
  return {
    reached: async (count = 1) => void (await untilAnswered(async () => (await standing()) >= count)),
    release: async () => {
      await client.query(`SELECT pg_advisory_unlock(${lock})`);
      await untilAnswered(async () => (await standing()) === 0);
      await client.query(`DROP TRIGGER ${name} ON ${table}; DROP FUNCTION ${name}()`);
      await client.end();
    },
  };
}
