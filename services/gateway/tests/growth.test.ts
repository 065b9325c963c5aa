import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  explainStatements,
  findGrowingReads,
  recordPlans,
  type PlanRecorder,
  type TestDatabase,
} from '@countersign/database/testing';
import { RunId } from '@countersign/contracts';
import { newId } from '../src/ids.ts';
import { findLiveApiKey } from '../src/store/api-keys.ts';
import * as approvals from '../src/store/approvals.ts';
import { findKeyOf } from '../src/store/api-keys.ts';
import { listAuditEntries, recordAudit } from '../src/store/audit.ts';
import { openGatewayDatabase, type GatewayDatabase, type Tx } from '../src/store/database.ts';
import { countSendsSince, findLiveCode, replaceLiveCode } from '../src/store/email-codes.ts';
import { actOnce, forgetAnswers } from '../src/store/idempotency.ts';
import { claimDueRun, freeRuns } from '../src/store/due-runs.ts';
import { takeDueSettings } from '../src/store/due-settings.ts';
import * as leases from '../src/store/leases.ts';
import { takeLeftStep } from '../src/store/left-steps.ts';
import { listReceiptsAfterRevocation } from '../src/store/receipt-faults.ts';
import { findReceipt, isReceiptOfOtherStep, listReceiptsOf } from '../src/store/receipts.ts';
import { addProgress, moveRun } from '../src/store/run-progress.ts';
import { findLiveRunId, insertRun, listRunsOf } from '../src/store/runs.ts';
import { findReport, forgetReports, insertReports, listReportsOf } from '../src/store/reports.ts';
import { findSession, markRotated, revokeFamily } from '../src/store/sessions.ts';
import { holdsSettings, recordConfirmation } from '../src/store/confirmed-settings.ts';
import * as steps from '../src/store/steps.ts';
import { findTask, listTasksOf, lockTask, setTaskStatus } from '../src/store/tasks.ts';
import { ensureUser } from '../src/store/users.ts';
import { listViolationsOf } from '../src/store/violations.ts';
import * as workspaces from '../src/store/workspaces.ts';
import { callReport } from './_call-report.ts';
import { rowsOf, testDatabase } from './_gateway.ts';

const now = new Date();
let scratch: TestDatabase;
let database: GatewayDatabase;
let recorder: PlanRecorder;

beforeAll(async () => {
  scratch = await testDatabase({ twins: false });
  await fill();
  await explainStatements(scratch);
  database = openGatewayDatabase(scratch.url);
  recorder = recordPlans(database.pool);
});

afterAll(async () => {
  await database?.close();
  await scratch?.drop();
});

it('no statement of the store reads more rows than it returns, whatever the size of the table', async () => {
  const plans = await recorder.during(async () => {
    await readEverything(database);
    await database.transaction((tx) => writeEverything(tx));
    const once = () =>
      database.transaction((tx) =>
        actOnce(tx, { scope: 'scope-1', key: 'key', fingerprint: 'sha256:a', now }, async () => '{}'),
      );
    await once();
    await once();
  });
  expect(plans.length).toBeGreaterThan(70);
  expect(await findGrowingReads(scratch, plans, { rows: 100, pages: 300 })).toEqual([]);
});

const rowsPerTable = 5_000;
/** Returns the ID of a filled row. Rows have the same numbers for every prefix. */
const idOf = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, '0')}`;
const [workspaceId, taskId, runId, stepId] = [idOf('wsp', 7), idOf('tsk', 7), idOf('run', 7), idOf('stp', 7)];

async function readEverything({ reader }: GatewayDatabase): Promise<void> {
  const page = { limit: 10 };
  await listTasksOf(reader, workspaceId, page);
  await listTasksOf(reader, workspaceId, { ...page, status: 'completed' });
  await findTask(reader, workspaceId, taskId);
  await listRunsOf(reader, { workspaceId, taskId }, page);
  await steps.loadSteps(reader, { runId, after: 0 });
  await leases.findLeasedRun(reader, leaseOf(runId));
  await listAuditEntries(reader, workspaceId, { ...page, actor: 'usr_nobody', from: now.toISOString() });
  await approvals.listApprovalsOf(reader, workspaceId, { ...page, status: 'pending' });
  await approvals.findApproval(reader, workspaceId, idOf('apr', 7));
  await approvals.findExpired(reader, now);
  await approvals.findReleasable(reader, now);
  await approvals.findApprovalOfKernel(reader, { workspaceId, kernelApprovalId: idOf('apr', 7) });
  await findKeyOf(reader, workspaceId, idOf('hpk', 7));
  await listReceiptsOf(reader, workspaceId, page);
  await findReceipt(reader, workspaceId, newId('run'));
  await listViolationsOf(reader, workspaceId, page);
  await listReportsOf(reader, { workspaceId, userId: idOf('usr', 7) }, { ...page, status: 404 });
  await findReport(reader, { workspaceId, userId: null, personId: idOf('usr', 7), requestId: 'call-8' });
  await findSession(reader, 'hash-none');
  await findLiveApiKey(reader, { keyHash: 'hash-none' }, now);
  await workspaces.findMembership(reader, workspaceId, idOf('usr', 7));
  await workspaces.findWorkspace(reader, workspaceId);
  await workspaces.countOtherApprovers(reader, workspaceId, idOf('usr', 7));
  await workspaces.getSettings(reader, workspaceId);
}

async function writeEverything(tx: Tx): Promise<void> {
  const error = { code: 'RUN_ENDED', message: 'none' } as const;
  await lockTask(tx, workspaceId, taskId);
  await setTaskStatus(tx, taskId, 'queued', now);
  await findLiveRunId(tx, taskId);
  await insertRun(tx, { workspaceId, taskId, startedBy: idOf('usr', 7), iterationBudget: 1, currency: 'EUR' }, now);
  await leases.claimRun(tx, { runId, owner: 'nobody', leaseMs: 1_000 });
  await claimDueRun(tx, { runId, owner: 'nobody', leaseMs: 1_000, perWorkspaceMax: 3 });
  await freeRuns(tx, 3);
  await takeDueSettings(tx, { limit: 1, retryMs: 1_000 });
  await leases.renewLease(tx, leaseOf(runId), 1_000);
  await leases.lockLeasedRun(tx, leaseOf(runId));
  await leases.lockRunningRun(tx, leaseOf(runId));
  await leases.releaseLease(tx, leaseOf(runId));
  await leases.takeOrphans(tx, 1_000);
  await leases.takeUnclaimed(tx, 1_000);
  await takeLeftStep(tx);
  await moveRun(tx, runId, { from: ['running'], to: 'failed', error }, now);
  await addProgress(tx, runId, { iterations: 1, tokensIn: 1, tokensOut: 1, costMicros: 1n });
  await steps.grantStep(tx, stepId, idOf('apr', 7));
  await steps.updateStep(tx, stepId, { state: 'settled', decision: null, output: null, error }, now);
  await steps.endOpenStep(tx, runId, error, now);
  const pending = { id: idOf('apr', 7), status: 'pending', held: false } as const;
  const approved = { status: 'approved', resolvedBy: null, timelockUntil: now, held: true, now } as const;
  await approvals.resolveApproval(tx, pending, approved);
  await approvals.takeHeld(tx, idOf('apr', 7));
  await approvals.cancelApprovalsOfRun(tx, runId, now);
  await approvals.isApprovalOfOtherRun(tx, { kernelApprovalId: 'none', runId });
  await isReceiptOfOtherStep(tx, { workspaceId, decisionId: 'none', stepId });
  await listReceiptsAfterRevocation(tx, {
    keyId: 'key',
    revokedAt: '2099-01-01T00:00:00.000Z',
    after: { receivedAt: new Date(0), workspaceId: '', decisionId: '' },
    limit: 10,
  });
  await recordConfirmation(tx, { workspaceId, version: 1 }, now);
  await holdsSettings(tx, { workspaceId, version: 1 });
  await markRotated(tx, { id: idOf('ses', 7), familyId: idOf('ses', 7) }, now);
  await revokeFamily(tx, idOf('ses', 7), { now, reason: 'test' });
  await countSendsSince(tx, 'user-7', now);
  await findLiveCode(tx, 'user-7');
  await replaceLiveCode(tx, { id: newId('cod'), email: 'user-7', codeHmac: '', createdAt: now, expiresAt: now });
  await ensureUser(tx, 'user-7', now);
  await workspaces.findFirstMembership(tx, idOf('usr', 7));
  await workspaces.lockSettings(tx, workspaceId);
  await workspaces.setMode(tx, workspaceId, 'build', now);
  await forgetAnswers(tx, new Date(0));
  const reported = { ...callReport(workspaceId), runId: RunId.parse(runId) };
  await insertReports(tx, [{ report: reported, userId: idOf('usr', 7), approvalId: idOf('apr', 7) }]);
  await forgetReports(tx, new Date(0));
  const event = { workspaceId, action: 'test', actor: 'test', verdict: 'allow' } as const;
  await recordAudit(tx, event, now);
}

function leaseOf(id: string): leases.Lease {
  return { runId: id, taskId, workspaceId, owner: 'nobody', fence: 1, startedBy: 'nobody' };
}

/** Inserts one row per number into each table. None is in an open state, because open rows are rare in practice. */
async function fill(): Promise<void> {
  const id = (prefix: string, n = 'n') => `'${prefix}_' || lpad((${n})::text, 26, '0')`;
  const place = `${id('wsp')}, ${id('tsk')}, ${id('run')}, ${id('stp')}`;
  const rows: Record<string, string> = {
    users: `(id, email, name, created_at) SELECT ${id('usr')}, 'user-' || n, 'x', now()`,
    workspaces: `(id, name, created_by, created_at, updated_at, settings_due_at) SELECT ${id('wsp')}, 'x', 'x', now(), now(), '9000-01-01'`,
    workspace_members: `(workspace_id, user_id, role, joined_at) SELECT ${id('wsp')}, ${id('usr')}, 'owner', now()`,
    workspace_settings: `(workspace_id, policy_config, budget_config, model_config, version, updated_at) SELECT ${id('wsp', 'n + 100')}, '{}', '{}', '{}', 2, now()`,
    sessions: `(id, family_id, user_id, token_hash, created_at, expires_at) SELECT ${id('ses')}, ${id('ses')}, ${id('usr')}, 'hash-' || n, now(), now()`,
    email_codes: `(id, email, code_hmac, created_at, expires_at, ended_at) SELECT ${id('cod')}, 'user-' || n, 'x', now(), now(), now()`,
    tasks: `(id, workspace_id, title, description, status, created_by, created_at, updated_at) SELECT ${id('tsk')}, ${id('wsp')}, 'x', 'x', 'completed', ${id('usr')}, now(), now()`,
    runs: `(id, workspace_id, task_id, status, started_by, iteration_budget, currency, created_at, ended_at) SELECT ${id('run')}, ${id('wsp')}, ${id('tsk')}, 'completed', ${id('usr')}, 1, 'EUR', now(), now()`,
    run_steps: `(id, workspace_id, run_id, seq, kind, state, args, started_at) SELECT ${id('stp')}, ${id('wsp')}, ${id('run')}, 1, 'model_call', 'settled', '{}', now()`,
    approvals: `(workspace_id, task_id, run_id, step_id, id, kernel_approval_id, status, args, effect_level, demand, reason_code, reason, requested_by, started_by, expires_at, created_at, session_id, action, facts) SELECT ${place}, ${id('apr')}, ${id('apr')}, 'expired', '{}', 'E4', '{"tool_calls":1,"spend_micros":null,"egress_bytes":0,"writes":0}', 'x', 'x', 'x', ${id('usr')}, now(), now(), 'x', 'tool.call', '{}'`,
    violations: `(workspace_id, task_id, run_id, step_id, id, source, reason_code, reason, created_at) SELECT ${place}, ${id('vio')}, 'kernel', 'x', 'x', now()`,
    call_reports: `(id, workspace_id, user_id, request_id, status, report, created_at) SELECT ${id('rpt')}, ${id('wsp')}, ${id('usr')}, 'call-' || n, 400, '{}', now()`,
    receipts: `(workspace_id, decision_id, receipt_id, verification, document, verified_at, received_at) SELECT ${id('wsp', 'n + 100')}, ${id('dec')}, ${id('rcp')}, 'failed', '{}', now(), now()`,
    refused_receipts: `(workspace_id, id, decision_id, fault, document, received_at) SELECT ${id('wsp', 'n + 100')}, ${id('rcp')}, ${id('dec')}, 'x', '{}', now()`,
    receipt_faults: `(workspace_id, decision_id, fault, found_at) SELECT ${id('wsp', 'n + 100')}, ${id('dec')}, 'x', now()`,
    confirmed_settings: `(workspace_id, version, confirmed_at) SELECT ${id('wsp')}, 1, now()`,
    audit_entries: `(workspace_id, seq, id, action, actor, verdict, reason, details, created_at, hash) SELECT ${id('wsp')}, 1, ${id('aud')}, 'x', 'x', 'allow', 'ok', '{}', now(), 'x'`,
    audit_heads: `(workspace_id, seq, hash) SELECT ${id('wsp')}, 1, 'sha256:' || repeat('0', 64)`,
    idempotency_keys: `(scope, key, fingerprint, created_at) SELECT 'scope-' || n, 'x', 'x', now()`,
  };
  for (const [table, values] of Object.entries(rows))
    await rowsOf(scratch, `INSERT INTO ${table} ${values} FROM generate_series(1, ${rowsPerTable}) AS n`);
  await rowsOf(scratch, 'ANALYZE');
}
