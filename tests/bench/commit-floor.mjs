import pg from 'pg';

/** The bytes of one ledger row of a decision: payload, record, hashes, signature, names. */
const payloadBytes = 820;
const recordBytes = 1_900;

/**
 * The floor under a durable decision: one prepared insert of a row as long as a ledger row, committed by itself on one connection,
 * with synchronous_commit as the server has it.
 */
export async function openCommitFloor(adminUrl) {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query('CREATE TABLE bench_commit (id bigint PRIMARY KEY, payload text NOT NULL, record text NOT NULL)');
  let id = 0;
  const insert = () => {
    id += 1;
    const values = [id, 'p'.repeat(payloadBytes), 'r'.repeat(recordBytes)];
    return client.query({ name: 'commit', text: 'INSERT INTO bench_commit VALUES ($1, $2, $3)', values });
  };
  const { rows } = await client.query('SHOW server_version');
  return {
    serverVersion: rows[0].server_version,
    measure: (seconds) => measure(insert, seconds),
    close: () => client.end(),
  };
}

async function measure(insert, seconds) {
  const latenciesMs = [];
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1_000;
  let now = startedAt;
  while (now < deadline) {
    const sentAt = now;
    await insert();
    now = performance.now();
    latenciesMs.push(now - sentAt);
  }
  const sorted = Float64Array.from(latenciesMs).sort();
  const quantile = (share) => sorted[Math.floor(sorted.length * share)];
  return {
    answers: sorted.length,
    perSecond: sorted.length / ((now - startedAt) / 1_000),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  };
}
