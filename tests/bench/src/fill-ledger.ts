import type pg from 'pg';
import { rowCopier } from './row-copier.ts';
import { tenant } from './requests.ts';
import { withAdmin } from './with-admin.ts';

/** Sessions of copies, as a pattern for LIKE. */
export const filledSessions = 'fill-%';

/** The sealed calls that are copied: the first `receipts` receipts of the sessions that the expression matches. */
export type CallPattern = { sessions: string; receipts: number };

export type LedgerFill = {
  pattern: CallPattern;
  /** The number of receipts in the log after the fill. The log may contain a few more. */
  size: number;
};

/**
 * Copies the rows of sealed calls into new sessions. The columns are correct: places in log and chain, ids, heads. The
 * signed bytes remain the original ones, since no decision reads them. No kernel may be running on the database.
 */
export async function fillLedger(adminUrl: string, fills: readonly LedgerFill[]): Promise<void> {
  await withAdmin(adminUrl, async (client) => {
    for (const fill of fills) await fillTo(client, fill);
    // Without these statements, autovacuum and the flush of the copied rows would fall into the measurement.
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

/** Stores the rows to copy in temporary tables. A look-up in the growing tables would cost more in each round. */
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

/** The place of a copy in the log. $1 is the size of the log before this round of copies. */
const place = '($1::bigint + original.rank)';
/** The ULID of a copy. It is lower than every current ULID, and the ULIDs of later copies are higher. */
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
    // Some settled calls keep no dispatch, so there is none to copy.
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
 * Lets the log and its tree continue after the copies. No proof of a copy is requested, so their part of the tree only
 * needs the right shape: one root for each perfect subtree. A new last checkpoint covers the copies. Otherwise the
 * checkpointer would begin with a checkpoint for them.
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
  if ((await copy([size])) !== 1) throw new Error('There is no checkpoint to copy');
}
