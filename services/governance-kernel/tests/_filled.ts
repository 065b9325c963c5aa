import { nodeProvider } from '@countersign/crypto/node';
import { emptyFrontier } from '@countersign/crypto';
import type { Digest } from '@countersign/contracts';
import { until } from '@countersign/testkit/until';
import pg from 'pg';
import { grown } from '../src/ledger/log-tree.ts';
import type { TestKernel } from './_kernel.ts';
import { seal } from './_seal.ts';

/** The tenant of most rows. Its rare rows are old, so that a search from the newest row finds them last. */
export const busy = 'busy';
/** A tenant whose calls are all denied, except for a few old ones. */
export const denied = 'denied';

/** Values that only few receipts of the busy tenant have, by column. */
export const rare = {
  session_id: 'rare-session',
  principal_id: 'rare-agent',
  verdict: 'ESCALATE',
  reason_code: 'THROTTLED',
  tool: 'rare.tool',
  action: 'rare.action',
  kind: 'approval',
} as const;

/** A session with receipts throughout the history. */
export const longSession = 'long-session';

/** A chain with little drift, and a chain with most of the drift. */
export const hostChains = { few: `hch_${'0'.repeat(26)}`, many: `hch_${'1'.repeat(26)}` } as const;

/** Row counts of the tables. Each table has far more rows than one statement may read. */
export const rows = { ledger: 64_000, approvals: 30_000, others: 8_000 };

/** Issue time of the first filled receipt. Another receipt follows each second. */
const began = Date.UTC(2026, 0, 1);
export const instantOf = (logIndex: number) => new Date(began + logIndex * 1_000).toISOString();

/**
 * Fills in a long history after a few real decisions. Each row is a copy of a real row with other columns. The log is
 * the correct Merkle tree over all rows.
 */
export async function fillHistory(test: TestKernel, { receipts = rows.ledger } = {}): Promise<void> {
  await seal(test, { tenant: busy });
  await seal(test, { tenant: busy, tool: 'files.delete' });
  await seal(test, { tenant: busy, tool: 'pay.send' });
  await test.as(busy).createCheckpoint();
  const client = new pg.Client({ connectionString: test.database.adminUrl, options: '-c search_path=kernel' });
  await client.connect();
  try {
    // Unlogged rows are fast to insert. They need not survive a crash.
    await client.query('ALTER TABLE ledger SET UNLOGGED');
    for (const statement of [ledgerOf(receipts), approvals, ...others]) await client.query(statement);
    await buildLog(client);
    // The kernel counts the decisions in the background. ANALYZE must see all counts, because PostgreSQL plans queries
    // by the number of rows.
    await until(() => areAllCounted(client));
    await client.query('ANALYZE');
  } finally {
    await client.end();
  }
}

async function areAllCounted(client: pg.Client): Promise<boolean> {
  const { rows: found } = await client.query(
    'SELECT FROM decision_count_head AS counted JOIN log_head ON log_head.size = counted.size',
  );
  return found.length > 0;
}

const drift = {
  ...{ drift_id: `hdr_${'0'.repeat(26)}`, kind: 'without_intent', host_chain_id: hostChains.many },
  ...{
    chain_hash: `sha256:${'0'.repeat(64)}`,
    host_receipt_id: 'event-1',
    host_receipt_hash: `sha256:${'0'.repeat(64)}`,
  },
  ...{ host_receipt_state: 'verified', observed_at: instantOf(0), destination: 'x.example:443', bytes_sent: 1 },
  ...{ decision_id: null, decision_receipt_id: null, verdict: null, matched_by: [], expected_destinations: [] },
  ...{ bytes_allowed: null, bytes_counted: null, detected_at: instantOf(0), receipt_id: `rcp_${'0'.repeat(26)}` },
};

const ledgerOf = (receipts: number) => `
INSERT INTO ledger
SELECT n, lpad(n::text, 26, '0'), tenant, CASE WHEN few THEN '${rare.session_id}' WHEN n % 10 < 2 THEN '${longSession}' ELSE 'session-' || n / 20 END, n,
       CASE WHEN few THEN '${rare.principal_id}' ELSE 'agent-' || n % 50 END,
       CASE WHEN few THEN '${rare.kind}' WHEN n % 3 = 0 THEN 'outcome' ELSE 'decision' END,
       CASE WHEN few AND tenant = '${denied}' THEN 'ALLOW' WHEN few AND n % 2 = 0 THEN '${rare.verdict}'
            WHEN few OR tenant = '${denied}' THEN 'DENY' ELSE 'ALLOW' END,
       CASE WHEN few AND tenant <> '${denied}' THEN '${rare.reason_code}' WHEN few OR tenant <> '${denied}' THEN 'ALLOWED'
            ELSE 'POLICY_DENIED' END,
       CASE WHEN few THEN '${rare.action}' ELSE 'tool.call' END, CASE WHEN few THEN '${rare.tool}' ELSE 'tool-' || n % 20 END,
       '${instantOf(0)}'::timestamptz + n * interval '1 second', 'sha256:' || encode(sha256(n::text::bytea), 'hex'),
       payload, key_id, signature, CASE WHEN few OR n % 3 <> 0 THEN record END
  FROM (SELECT n, n % 1000 = 5 AND n < 20000 OR n % 1000 = 6 AND n < 20000 OR n BETWEEN 1000 AND 1100 AS few,
               CASE WHEN n % 10 < 7 THEN '${busy}' WHEN n % 10 = 7 THEN '${denied}' ELSE 'tenant-' || n % 100 END AS tenant
          FROM generate_series((SELECT max(log_index) + 1 FROM ledger), ${receipts - 1}) n) AS filled,
       (SELECT payload, key_id, signature, record FROM ledger WHERE kind = 'decision' ORDER BY log_index LIMIT 1) AS sealed`;

/** Few approvals are pending or overdue, because the housekeeper expires them. */
const approvals = `
INSERT INTO approvals
SELECT 'apr_' || lpad(n::text, 26, '0'), CASE WHEN n % 10 < 7 THEN '${busy}' ELSE 'tenant-' || n % 100 END,
       CASE WHEN n % 1000 = 1 THEN 'pending' WHEN n < 100 THEN 'revoked' WHEN n % 50 = 0 THEN 'expired' ELSE 'consumed' END,
       requested_by, CASE WHEN n < 100 THEN '${rare.session_id}' ELSE 'session-' || n / 20 END, action, tool, resource, effect_level,
       args_hash, 'sha256:' || encode(sha256(n::text::bytea), 'hex'), policy_hash, policy_epoch, receipt_id, reason, quorum, approvers,
       approved_by, scope, uses_remaining, timelock_until,
       now() + CASE WHEN n % 2000 = 1 THEN interval '1 hour' ELSE -interval '1 minute' END, ceremony_hash, created_at, updated_at,
       NULL, demand, facts, NULL, judged_hash, NULL, 0, preconditions, NULL, NULL, NULL
  FROM generate_series(1, ${rows.approvals}) n, (SELECT * FROM approvals LIMIT 1) AS asked`;

/** {1: 1, 3: -8, -1: 6, -2: 32 bytes}: an Ed25519 key in COSE, the format of authenticators. */
const coseKey = Buffer.concat([Buffer.from('a401010327200621', 'hex'), Buffer.from([0x58, 32]), Buffer.alloc(32, 7)]);
const some = `generate_series(1, ${rows.others}) n`;
const others = [
  `INSERT INTO checkpoints SELECT 'chk_' || lpad(n::text, 26, '0'), n * ${rows.ledger / rows.others} - 1, root_hash, n, note, NULL, created_at
     FROM ${some}, (SELECT * FROM checkpoints LIMIT 1) AS signed ON CONFLICT DO NOTHING`,
  `INSERT INTO budgets (tenant_id, budget_id, subject, "window", tool_call_limit, updated_at)
   SELECT CASE WHEN n % 2 = 0 THEN '${busy}' ELSE 'tenant-' || n % 100 END, 'budget-' || n, 'principal:p' || n, 'total', 100, now() FROM ${some}`,
  `INSERT INTO session_heads SELECT tenant_id, session_id, max(lamport_clock), max(receipt_hash) FROM ledger GROUP BY 1, 2
   ON CONFLICT DO NOTHING`,
  `INSERT INTO dispatches SELECT lpad(n::text, 26, '0'), '${busy}', '[]', now() + interval '1 hour' FROM ${some}`,
  `INSERT INTO idempotency_keys SELECT '', '', 'route', 'key-' || n, 'print', 'done', 200, '{}', '{}', now() FROM ${some}`,
  `INSERT INTO policy_bundles SELECT 'tenant-' || n, 1, policy_hash, bundle, key_id, signature, activated_at
     FROM ${some}, (SELECT * FROM policy_bundles WHERE tenant_id = '*') AS active`,
  `INSERT INTO policy_heads SELECT tenant_id, epoch, policy_hash, now(), key_id, signature
     FROM policy_bundles ON CONFLICT DO NOTHING`,
  `INSERT INTO relation_tuples
     SELECT CASE WHEN n % 2 = 0 THEN '${busy}' ELSE 'tenant-' || n % 100 END, 'document:' || n % 50, 'viewer', false, 'user:' || n FROM ${some}`,
  `INSERT INTO relation_entities SELECT '${busy}', 'user', n::text, '{}' FROM ${some}`,
  `INSERT INTO relation_snapshots SELECT CASE WHEN n > ${rows.others} - 256 THEN '${busy}' ELSE 'tenant-' || n END, n, 'snp_' || lpad(n::text, 26, '0'), 'sha256:' || lpad(n::text, 64, '0'), NULL, '{}', 10000, NULL, now(), now() FROM ${some}`,
  `INSERT INTO relation_heads SELECT CASE WHEN n = 1 THEN '${busy}' ELSE 'tenant-' || n END, ${rows.others}, 'sha256:' || lpad('${rows.others}', 64, '0'), now() FROM ${some}`,
  `INSERT INTO fences (scope, kind, reason, effective_at, epoch, set_by)
     SELECT 'tenant:tenant-' || n, 'quarantine', 'test', now(), 1, 'test' FROM ${some}`,
  `INSERT INTO passkeys
     SELECT lpad(n::text, 26, '0'), '${busy}', 'credential-' || lpad(n::text, 5, '0'), 'agent-' || n % 4, '${coseKey.toString('base64url')}', 0, '{}',
            false, false, now(), 'agent-1', now(), NULL, NULL, CASE WHEN n % 100 > 0 THEN now() END FROM ${some}`,
  `INSERT INTO passkey_challenges
     SELECT '${busy}', 'agent-' || n, 'approval', '', 'challenge-' || n, '', '{}', now() + interval '1 hour' FROM ${some}`,
  `INSERT INTO approval_terms SELECT 'tenant-' || n, 1, false, NULL, now(), false FROM ${some}`,
  `INSERT INTO identities SELECT '${busy}', kind, kind || '-' || n, lpad(n::text, 26, '0'), 'test', 1, 1, now(), 'test'
     FROM ${some}, unnest(ARRAY['agent', 'operator']) AS kind`,
  `INSERT INTO identity_keys SELECT '${busy}', lpad(n || '-' || nth, 43, 'k'), 'agent-' || n, 'none', now(), 'test', CASE nth WHEN 1 THEN NULL ELSE now() END
     FROM ${some}, generate_series(1, 3) nth`,
  `INSERT INTO access_keys
     SELECT 'key_' || lpad(n::text, 26, '0'), '${busy}', 'agent-' || n, 'agent', '{evaluate}', NULL, 'agk_', 'hash-' || n, now(), now(), 'test' FROM ${some}`,
  `INSERT INTO host_chains SELECT '${busy}', 'sha256:' || n, 'hch_' || lpad(n::text, 26, '0'), '{}', '{}' FROM ${some}`,
  `INSERT INTO host_drift SELECT '${busy}', 'hdr_' || lpad(n::text, 26, '0'), CASE WHEN n < 9 THEN 'after_deny' ELSE 'without_intent' END,
     CASE WHEN n < 99 THEN '${hostChains.few}' ELSE '${hostChains.many}' END, '${JSON.stringify(drift)}' FROM ${some}`,
  `INSERT INTO outbox (id, type, envelope, sent_at) SELECT 'sent-' || n, 'test', '{}', now() FROM ${some}`,
  `INSERT INTO inbox SELECT 'consumer', 'message-' || n FROM ${some}`,
];

async function buildLog(client: pg.Client): Promise<void> {
  const { rows: leaves } = await client.query<{ receipt_hash: Digest }>(
    'SELECT receipt_hash FROM ledger ORDER BY log_index',
  );
  const hashes = leaves.map(({ receipt_hash }) => receipt_hash);
  const { frontier, nodes } = grown(nodeProvider, emptyFrontier, hashes);
  await client.query(
    'INSERT INTO log_nodes SELECT * FROM unnest($1::int[], $2::bigint[], $3::bytea[]) ON CONFLICT DO NOTHING',
    [nodes.map(({ level }) => level), nodes.map(({ index }) => index), nodes.map(({ hash }) => Buffer.from(hash))],
  );
  await client.query('UPDATE log_head SET size = $1', [frontier.size]);
  await client.query('UPDATE log_tree SET size = $1, frontier = $2', [
    frontier.size,
    frontier.hashes.map((hash) => Buffer.from(hash)),
  ]);
}
