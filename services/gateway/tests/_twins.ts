import type { TwinOptions } from '@countersign/database/testing';

/** Another id of the same kind, and always the same one. */
function idsOf(...columns: string[]): Record<string, string> {
  return Object.fromEntries(
    columns.map((column) => [column, `left(NEW.${column}, 4) || reverse(substr(NEW.${column}, 5))`]),
  );
}

/** Workers serve all workspaces: a row that is never due is never moved. */
const never = `'9000-01-01'`;
const owner = 'workspace_id';

/** Excludes the idempotency keys of twins. */
export const ofNoTwin = `scope NOT LIKE '%.twin'`;

/** Each workspace has a twin of the same person: another workspace with the same tasks, runs, approvals, settings and spend. */
export function workspaceTwins(): TwinOptions {
  const inWorkspace = (...columns: string[]) => ({ columns: idsOf(owner, ...columns) });
  const inRun = inWorkspace('id', 'task_id', 'run_id');
  const about = inWorkspace('id', 'task_id', 'run_id', 'step_id');
  const tables = {
    workspaces: { owner: 'id', columns: { ...idsOf('id'), members_told_at: never, settings_due_at: never } },
    // A person signs in to the first one.
    workspace_members: { columns: { ...idsOf(owner), joined_at: never } },
    provisioned_members: inWorkspace(),
    workspace_settings: inWorkspace(),
    invites: {
      columns: {
        ...idsOf(owner, 'id'),
        token_hash: `reverse(NEW.token_hash)`,
        email: `NEW.email || '.twin'`,
        expires_at: never,
      },
    },
    api_keys: {
      columns: { ...idsOf(owner, 'id'), key_hash: `reverse(NEW.key_hash)`, expires_at: never },
    },
    tasks: inWorkspace('id'),
    // A waiting run is any worker's to take.
    runs: {
      columns: {
        ...idsOf(owner, 'id', 'task_id'),
        created_at: never,
        status: `CASE NEW.status WHEN 'queued' THEN 'cancelled' ELSE NEW.status END`,
      },
    },
    run_steps: inWorkspace('id', 'run_id'),
    approvals: {
      columns: { ...inRun.columns, ...idsOf('step_id', 'kernel_approval_id', 'session_id'), expires_at: never },
    },
    subscriptions: { owner: 'owner', columns: idsOf('owner', 'id') },
    notifications: { owner: 'owner', columns: { ...idsOf('owner', 'id', 'subscription_id'), due_at: never } },
    emitted_events: { columns: { ...idsOf(owner, 'id'), emitted_at: never } },
    violations: about,
    call_reports: {
      columns: { ...idsOf(owner, 'id', 'task_id', 'run_id'), created_at: never },
      // One of no workspace is its person's, who is the same in both.
      of: 'NEW.workspace_id IS NOT NULL',
    },
    // A receipt that arrived after the revocation of its key is any gateway's to review.
    receipts: { columns: { ...idsOf(owner, 'task_id', 'run_id', 'step_id'), received_at: `'2000-01-01'` } },
    refused_receipts: inWorkspace('task_id', 'run_id', 'step_id'),
    receipt_faults: inWorkspace(),
    confirmed_settings: inWorkspace(),
    org_workspaces: inWorkspace('org_id'),
    evidence_items: about,
    audit_entries: inWorkspace('id'),
    audit_heads: inWorkspace(),
    idempotency_keys: { owner: 'scope', columns: { scope: `NEW.scope || '.twin'`, created_at: never } },
  };
  return { owner, without: [], tables };
}
