import pg from 'pg';
import { nodeProvider } from '@countersign/crypto/node';
import { verifyReceipt } from '@countersign/verifier';
import { tenant } from './loads.mjs';

const signaturesSampled = 500;

/**
 * Holds what was sealed against what was answered: as many receipts, each its place in the log and in its chain, each decision with
 * its record, signatures that verify. Throws when anything is amiss: a fast ledger that is wrong measures nothing.
 */
export async function checkLedger({ adminUrl, sealed, signingKey }) {
  const client = new pg.Client({ connectionString: adminUrl, options: '-c search_path=kernel' });
  await client.connect();
  try {
    const counts = await readCounts(client);
    const faults = [
      [Number(counts.sealed) === sealed, `${counts.sealed} receipts for ${sealed} answers`],
      [Number(counts.size) === Number(counts.entries), `log size ${counts.size}, ${counts.entries} entries`],
      [Number(counts.last) === Number(counts.entries) - 1, 'the log has a gap'],
      [Number(counts.broken) === 0, `${counts.broken} broken links`],
      [Number(counts.unrecorded) === 0, `${counts.unrecorded} decisions without record`],
    ].flatMap(([holds, fault]) => (holds ? [] : [fault]));
    if (faults.length > 0) throw new Error(`The ledger is wrong: ${faults.join('; ')}`);
    const verified = await verifySample(client, signingKey);
    return { receipts: Number(counts.sealed), chains: Number(counts.chains), verified };
  } finally {
    await client.end();
  }
}

async function readCounts(client) {
  const { rows } = await client.query(
    `WITH linked AS (
       SELECT *, lag(receipt_hash) OVER chain AS before, lag(lamport_clock, 1, 0::bigint) OVER chain AS clock_before
         FROM ledger WINDOW chain AS (PARTITION BY tenant_id, session_id ORDER BY lamport_clock))
     SELECT count(*) AS entries, max(log_index) AS last, (SELECT size FROM log_head) AS size,
            count(*) FILTER (WHERE tenant_id = $1) AS sealed,
            count(DISTINCT session_id) FILTER (WHERE tenant_id = $1) AS chains,
            count(*) FILTER (WHERE lamport_clock <> clock_before + 1
                               OR payload::json->>'prev_hash' IS DISTINCT FROM before) AS broken,
            count(*) FILTER (WHERE kind = 'decision' AND record IS NULL) AS unrecorded
       FROM linked`,
    [tenant],
  );
  return rows[0];
}

async function verifySample(client, signingKey) {
  const trust = [{ ...signingKey, valid_from: '2000-01-01T00:00:00.000Z' }];
  const { rows } = await client.query(
    'SELECT payload, key_id, signature, receipt_hash, log_index FROM ledger WHERE tenant_id = $1 ORDER BY random() LIMIT $2',
    [tenant, signaturesSampled],
  );
  for (const { payload, key_id, signature, receipt_hash, log_index } of rows) {
    const receipt = {
      payload: JSON.parse(payload),
      signature: { alg: 'Ed25519', key_id, value: signature },
      receipt_hash,
      log_index: Number(log_index),
    };
    verifyReceipt(receipt, trust, nodeProvider);
  }
  return rows.length;
}
