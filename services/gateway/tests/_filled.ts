import type { TestDatabase } from '@countersign/database/testing';
import { callReport } from './_call-report.ts';
import { reportsKeptMax } from '../src/store/reports.ts';
import { rowsOf, type Person } from './_gateway.ts';

export const rows = 30_000;

/** Time from which the filled rows are created, one per second. */
const began = Date.UTC(2026, 0, 1);
export const instantOf = (nth: number) => new Date(began + nth * 1_000).toISOString();

/** Values that only a few old audit entries have. */
export const rare = { action: 'rare.action', actor: 'user:rare', verdict: 'deny' } as const;
export const filledTask = `tsk_${ulidOf(6)}`;
export const filledRun = `run_${ulidOf(6)}`;
export const filledDecision = `dec_${ulidOf(6)}`;
export const filledApproval = `apr_${ulidOf(6)}`;

/** Fills the workspace of a person and other workspaces with long histories. Only old rows have rare values. */
export async function fillHistory(database: TestDatabase, { workspace, user }: Person): Promise<void> {
  const place = `CASE WHEN n % 10 < 7 THEN '${workspace.id}' ELSE 'wsp_' || lpad((n % 100)::text, 26, '0') END`;
  const made = `'${instantOf(0)}'::timestamptz + n * interval '1 second'`;
  const id = (prefix: string) => `'${prefix}_' || lpad(n::text, 26, '0')`;
  const many = `generate_series(1, ${rows}) n`;
  const demand = '{"tool_calls":1,"spend_micros":null,"egress_bytes":0,"writes":0}';
  const digest = `sha256:${'0'.repeat(64)}`;
  const statements = [
    `INSERT INTO workspaces (id, name, created_by, created_at, updated_at)
     SELECT 'wsp_' || lpad(n::text, 26, '0'), 'other', '${user.id}', now(), now() FROM generate_series(0, 99) n`,
    `INSERT INTO tasks SELECT ${id('tsk')}, ${place}, 'title', 'text', CASE WHEN n < 100 THEN 'failed' ELSE 'completed' END,
            '${user.id}', ${made}, ${made}, ${made} FROM ${many}`,
    `INSERT INTO runs (id, workspace_id, task_id, status, started_by, iteration_budget, currency, created_at, ended_at)
     SELECT ${id('run')}, ${place}, ${id('tsk')}, CASE WHEN n < 100 THEN 'denied' ELSE 'completed' END, '${user.id}', 5, 'EUR', ${made}, ${made} FROM ${many}`,
    `INSERT INTO run_steps (id, workspace_id, run_id, seq, kind, state, args, started_at)
     SELECT ${id('stp')}, ${place}, ${id('run')}, 1, 'model_call', CASE WHEN n % 10 = 3 THEN 'parked' ELSE 'settled' END, '{}', ${made} FROM ${many}`,
    `INSERT INTO approvals (id, workspace_id, task_id, run_id, step_id, kernel_approval_id, status, args, effect_level, demand, reason_code, reason,
                            requested_by, started_by, expires_at, created_at, session_id, action, facts)
     SELECT ${id('apr')}, ${place}, ${id('tsk')}, ${id('run')}, ${id('stp')}, ${id('apr')},
            CASE WHEN n < 100 THEN 'rejected' WHEN n % 1000 = 1 THEN 'pending' ELSE 'approved' END, '{}', 'E2', '${demand}', 'code', 'reason', 'agent',
            '${user.id}', now() + interval '1 day', ${made}, ${id('run')}, 'tool.call', '{}' FROM ${many}`,
    `INSERT INTO violations SELECT ${id('vio')}, ${place}, NULL, NULL, NULL, 'kernel', NULL, 'code', 'reason', NULL, NULL, ${made} FROM ${many}`,
    `INSERT INTO evidence_items SELECT ${id('evd')}, ${place}, NULL, NULL, NULL, 'task_created', '${digest}', '{}', ${made} FROM ${many}`,
    `INSERT INTO audit_entries
     SELECT ${place}, n + 1000, ${id('aud')}, CASE WHEN n < 100 THEN '${rare.action}' ELSE 'task.created' END,
            CASE WHEN n < 100 THEN '${rare.actor}' ELSE 'user:ada' END, CASE WHEN n < 100 THEN '${rare.verdict}' ELSE 'allow' END,
            'ok', NULL, '{}', NULL, ${made}, '${digest}', '${digest}' FROM ${many}`,
    `INSERT INTO call_reports
     SELECT ${id('rpt')}, CASE WHEN n % ${rows / reportsKeptMax} = 6 THEN '${workspace.id}' ELSE 'wsp_' || lpad((n % 100)::text, 26, '0') END, '${user.id}',
            CASE WHEN n % 1000 = 6 THEN 'filled-call' ELSE 'call-' || n END, CASE WHEN n < 100 THEN 404 ELSE 400 END, ${id('tsk')}, NULL,
            '${JSON.stringify(callReport(workspace.id))}', now() FROM ${many}`,
    `INSERT INTO sessions SELECT ${id('ses')}, ${id('ses')}, '${user.id}', 'hash-' || n, ${made}, now() + interval '1 day', NULL, ${made}, 'ended' FROM ${many}`,
    `INSERT INTO email_codes SELECT ${id('cod')}, 'a' || n % 1000 || '@example.org', 'hmac', 0, ${made}, ${made}, ${made} FROM ${many}`,
    `INSERT INTO invites
     SELECT ${id('inv')}, ${place}, 'ada@example.org', 'member', 'hash-' || n, '${user.id}', ${made}, now() + interval '1 day', ${made}, ${made} FROM ${many}`,
    `INSERT INTO api_keys
     SELECT ${id('hpk')}, '${workspace.id}', '${user.id}', 'name', 'hp_', 'hash-' || n, 'member', '{read}', ${made}, now() + interval '1 day', NULL, ${made} FROM ${many}`,
    `INSERT INTO users (id, email, name, created_at) SELECT ${id('usr')}, 'user' || n || '@example.org', 'name', ${made} FROM ${many}`,
    `INSERT INTO idempotency_keys SELECT 'scope', 'key-' || n, 'print', '{}', now() FROM ${many}`,
    `INSERT INTO outbox (id, type, envelope, sent_at) SELECT 'sent-' || n, 'test', '{}', now() FROM ${many}`,
    `INSERT INTO receipts
     SELECT ${place}, ${id('dec')}, ${id('rcp')}, NULL, NULL, NULL, 'verified', '${JSON.stringify(receiptOf(digest))}', ${made}, ${made} FROM ${many}`,
    `INSERT INTO inbox SELECT 'consumer', 'message-' || n FROM ${many}`,
  ];
  // Foreign keys are not checked, because the checks would take longer than the inserts.
  await rowsOf(database, ['SET session_replication_role = replica', ...statements, 'ANALYZE'].join(';\n'));
}

function ulidOf(nth: number): string {
  return String(nth).padStart(26, '0');
}

function receiptOf(digest: string) {
  return {
    payload: {
      type: 'countersign.receipt.v1',
      receipt_id: `rcp_${ulidOf(6)}`,
      kind: 'decision',
      tenant_id: 'tenant',
      principal_id: 'agent',
      session_id: 'session',
      decision_id: filledDecision,
      record_hash: digest,
      verdict: 'ALLOW',
      reason_code: 'ALLOWED',
      action: 'tool.call',
      tool: null,
      resource: null,
      effect_level: 'E1',
      args_hash: digest,
      policy_hash: digest,
      policy_epoch: 1,
      shadow: false,
      lamport_clock: 1,
      prev_hash: null,
      issued_at: instantOf(6),
    },
    signature: { alg: 'Ed25519', key_id: 'key', value: 'A'.repeat(86) },
    receipt_hash: digest,
    log_index: 6,
  };
}
