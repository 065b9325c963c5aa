import type pg from 'pg';
import { nodeProvider } from '@countersign/crypto/node';
import { verifyReceipt } from '@countersign/verifier';
import type { BenchDatabase } from './bench-database.ts';
import { filledSessions } from './fill-ledger.ts';
import { withAdmin } from './with-admin.ts';

const signaturesSampled = 200;

export type LedgerCheck = { receipts: number; chains: number; verified: number };
type SigningKey = { key_id: string; public_key: Uint8Array };

/**
 * Compares the sealed receipts with the answers. Their number matches, each receipt has its place in the log and in its
 * chain, each decision has its record, and a sample of the signatures verifies. Throws otherwise, since the figures of
 * a wrong ledger mean nothing.
 */
export async function checkLedger(database: BenchDatabase, signingKey: SigningKey): Promise<LedgerCheck> {
  return await withAdmin(database.adminUrl, async (client) => {
    const counts = await readCounts(client);
    const faults = [
      [counts.sealed === database.sealed, `${counts.sealed} receipts for answers that left ${database.sealed}`],
      [counts.size === counts.entries, `log size ${counts.size}, ${counts.entries} entries`],
      [counts.last === counts.entries - 1, 'the log has a gap'],
      [counts.broken === 0, `${counts.broken} broken links`],
      [counts.unrecorded === 0, `${counts.unrecorded} decisions without record`],
    ].flatMap(([holds, fault]) => (holds === true ? [] : [fault]));
    if (faults.length > 0) throw new Error(`The ledger is wrong: ${faults.join('; ')}`);
    return { receipts: counts.sealed, chains: counts.chains, verified: await verifySample(client, signingKey) };
  });
}

type Counts = Record<'entries' | 'last' | 'size' | 'sealed' | 'chains' | 'broken' | 'unrecorded', number>;

async function readCounts(client: pg.Client): Promise<Counts> {
  const { rows } = await client.query<Record<keyof Counts, string>>(
    `WITH answered AS (SELECT * FROM ledger WHERE session_id NOT LIKE $1 AND kind IN ('decision', 'outcome')),
     linked AS (
       SELECT *, lag(receipt_hash) OVER chain AS before, lag(lamport_clock, 1, 0::bigint) OVER chain AS clock_before
         FROM answered WINDOW chain AS (PARTITION BY tenant_id, session_id ORDER BY lamport_clock))
     SELECT (SELECT count(*) FROM ledger) AS entries, (SELECT max(log_index) FROM ledger) AS last,
            (SELECT size FROM log_head) AS size, count(*) AS sealed, count(DISTINCT (tenant_id, session_id)) AS chains,
            count(*) FILTER (WHERE lamport_clock <> clock_before + 1
                               OR payload::json->>'prev_hash' IS DISTINCT FROM before) AS broken,
            count(*) FILTER (WHERE kind = 'decision' AND record IS NULL) AS unrecorded
       FROM linked`,
    [filledSessions],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The aggregate query returned no row');
  const number = (name: keyof Counts) => Number(row[name]);
  return {
    entries: number('entries'),
    last: number('last'),
    size: number('size'),
    sealed: number('sealed'),
    chains: number('chains'),
    broken: number('broken'),
    unrecorded: number('unrecorded'),
  };
}

type SealedRow = { payload: string; key_id: string; signature: string; receipt_hash: string; log_index: string };

async function verifySample(client: pg.Client, signingKey: SigningKey): Promise<number> {
  const trust = [{ ...signingKey, purpose: 'receipts' as const, valid_from: '2000-01-01T00:00:00.000Z' }];
  const { rows } = await client.query<SealedRow>(
    `SELECT payload, key_id, signature, receipt_hash, log_index FROM ledger
      WHERE session_id NOT LIKE $1 AND kind IN ('decision', 'outcome') ORDER BY random() LIMIT $2`,
    [filledSessions, signaturesSampled],
  );
  for (const { payload, key_id, signature, receipt_hash, log_index } of rows) {
    const sealed: unknown = JSON.parse(payload);
    const receipt = {
      payload: sealed,
      signature: { alg: 'Ed25519', key_id, value: signature },
      receipt_hash,
      log_index: Number(log_index),
    };
    verifyReceipt(receipt, trust, nodeProvider);
  }
  return rows.length;
}
