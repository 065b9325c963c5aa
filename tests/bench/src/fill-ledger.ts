import type pg from 'pg';
import { rowCopier } from './row-copier.ts';
import { tenant } from './requests.ts';
import { withAdmin } from './with-admin.ts';

/** Sessions of copies, for LIKE. */
export const filledSessions = 'fill-%';

/** The sealed calls that are copied: the first `receipts` of the sessions that the expression matches. */
export type CallPattern = { sessions: string; receipts: number };

export type LedgerFill = {
  pattern: CallPattern;
  /** The log then holds so many receipts, or a few more. */
  size: number;
};

/**
 * Multiplies what sealed calls left, in sessions of their own. The columns are right (places in log and chain, ids, heads); the
 * signed bytes are those of the originals, which no decision reads. No kernel may be running on the database.
 */
export async function fillLedger(adminUrl: string, fills: readonly LedgerFill[]): Promise<void> {
  await withAdmin(adminUrl, async (client) => {
    for (const fill of fills) await fillTo(client, fill);
    // Otherwise autovacuum does it while it is measured, and the writes of the fill are flushed then.
    await client.query('VACUUM (ANALYZE) ledger, session_heads, dispatches');
    await client.query('CHECKPOINT');
  });
}

async function fillTo(client: pg.Client, { pattern, size }: LedgerFill): Promise<void> {
  await client.query('BEGIN');
  await setPatternAside(client, pattern);
  const copiers = await copiersOf(client);
  let filled = await sizeOf(client);
  while (filled < size) {
    const [receipts = 0] = await inTurn(copiers, [filled]);
    if (receipts !== pattern.receipts) throw new Error(`${receipts} receipts to copy instead of ${pattern.receipts}`);
    filled += receipts;
  }
  await moveLogHead(client, filled);
  await client.query('COMMIT');
}

/** The rows to be copied, in tables of their own: looked up in the growing ones, each round would cost more than the one before. */
async function setPatternAside(client: pg.Client, { sessions, receipts }: CallPattern): Promise<void> {
  await client.query(
    `CREATE TEMPORARY TABLE sealed_calls ON COMMIT DROP AS
     SELECT *, row_number() OVER (ORDER BY log_index) - 1 AS rank,
            lamport_clock = max(lamport_clock) OVER (PARTITION BY session_id) AS is_last
       FROM (SELECT * FROM ledger WHERE tenant_id = $1 AND session_id ~ $2 ORDER BY log_index LIMIT $3) AS first`,
    [tenant, sessions, receipts],
  );
  await client.query(
    `CREATE TEMPORARY TABLE settled_calls ON COMMIT DROP AS
     SELECT d.*, c.rank FROM dispatches d JOIN sealed_calls c ON c.ulid = d.ulid;
     CREATE TEMPORARY TABLE last_heads ON COMMIT DROP AS
     SELECT h.*, c.rank, c.lamport_clock AS last_clock FROM session_heads h
       JOIN sealed_calls c ON c.tenant_id = h.tenant_id AND c.session_id = h.session_id WHERE c.is_last`,
  );
}

/** The place of a copy in the log; $1 is the size of the log before this round of copies. */
const place = '($1::bigint + original.rank)';
/** Lower than every ULID of today, and rising like theirs. */
const ulid = `'0' || lpad(${place}::text, 25, '0')`;
const session = `'fill-' || lpad(($1::bigint)::text, 10, '0') || '-' || original.session_id`;
const receiptHash = `'sha256:' || encode(sha256(${place}::text::bytea), 'hex')`;

async function copiersOf(client: pg.Client) {
  return [
    await rowCopier(client, {
      table: 'ledger',
      own: { log_index: place, ulid, session_id: session, receipt_hash: receiptHash },
      from: 'sealed_calls original ORDER BY original.rank',
    }),
    await rowCopier(client, {
      table: 'session_heads',
      own: { session_id: session, lamport_clock: 'original.last_clock', receipt_hash: receiptHash },
      from: 'last_heads original ORDER BY original.session_id',
    }),
    // A call that keeps no dispatch when it is settled leaves none to copy.
    await rowCopier(client, {
      table: 'dispatches',
      own: { ulid },
      from: 'settled_calls original ORDER BY original.rank',
    }),
  ];
}

async function inTurn(copiers: readonly ((values: unknown[]) => Promise<number>)[], values: unknown[]) {
  const counts: number[] = [];
  for (const copy of copiers) counts.push(await copy(values));
  return counts;
}

async function sizeOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ size: string }>('SELECT size FROM log_head WHERE id = 1');
  return Number(rows[0]?.size);
}

/**
 * The log and its tree go on behind the copies. No proof of them is requested, so their part of the tree needs the
 * right shape only: one root for each perfect subtree of that size. The last checkpoint covers them, or the
 * checkpointer would begin with them.
 */
async function moveLogHead(client: pg.Client, size: number): Promise<void> {
  const subtrees = size.toString(2).replaceAll('0', '').length;
  await client.query('UPDATE log_head SET size = $1 WHERE id = 1', [size]);
  await client.query(
    `UPDATE log_tree SET size = $1, frontier = array_fill(sha256('fill'::bytea), ARRAY[$2::int]) WHERE id = 1`,
    [size, subtrees],
  );
  const copy = await rowCopier(client, {
    table: 'checkpoints',
    own: {
      checkpoint_id: `'chk_' || '0' || lpad($1::bigint::text, 25, '0')`,
      tree_size: '$1::bigint',
      record_count: '$1::bigint',
      created_at: 'now()',
    },
    from: 'checkpoints original WHERE tree_size = (SELECT max(tree_size) FROM checkpoints)',
  });
  if ((await copy([size])) !== 1) throw new Error('There is no checkpoint to go on from');
}
