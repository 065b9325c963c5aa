import pg from 'pg';
import type { LatencySummary } from './latencies.ts';
import { repeatAlone } from './repeat-alone.ts';

/**
 * The number of bytes in the two columns. Together they are as long as one decision's ledger row: payload, record,
 * hashes, signature and names.
 */
const payloadBytes = 820;
const recordBytes = 1_900;

export type CommitFloor = { measure(seconds: number): Promise<LatencySummary>; close(): Promise<void> };

/**
 * The lower bound of a durable decision: one prepared insert of a row as long as a ledger row. Each insert is committed
 * alone on one connection, with the server's synchronous_commit.
 */
export async function openCommitFloor(adminUrl: string): Promise<CommitFloor> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query('CREATE TABLE bench_commit (id bigint PRIMARY KEY, payload text NOT NULL, record text NOT NULL)');
  let id = 0;
  const insert = async () => {
    id += 1;
    const values = [id, 'p'.repeat(payloadBytes), 'r'.repeat(recordBytes)];
    await client.query({ name: 'commit', text: 'INSERT INTO bench_commit VALUES ($1, $2, $3)', values });
  };
  return { measure: (seconds) => repeatAlone(insert, seconds), close: () => client.end() };
}
