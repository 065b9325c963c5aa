import type { TwinOptions } from '@countersign/database/testing';

/** Derives a fixed second ID of the same kind. */
function idsOf(...columns: string[]): Record<string, string> {
  return Object.fromEntries(
    columns.map((column) => [column, `left(NEW.${column}, 4) || reverse(substr(NEW.${column}, 5))`]),
  );
}

/** A time that is never due, because workers serve all workspaces and must not change twins. */
const never = `'9000-01-01'`;
const owner = 'workspace_id';

/** Excludes the idempotency keys of twins. */
export const ofNoTwin = `scope NOT LIKE '%.twin'`;

/**
 * Creates a twin of each workspace: another workspace of the same person with the same tasks, runs, approvals, settings
 * and spend.
 */
export function workspaceTwins(): TwinOptions {
  const inWorkspace = (...columns: string[]) => ({ columns: idsOf(owner, ...columns) });
  const inRun = inWorkspace('id', 'task_id', 'run_id');
  const about = inWorkspace('id', 'task_id', 'run_id', 'step_id');
  const tables = {
    workspaces: { owner: 'id', columns: { ...idsOf('id'), members_told_at: never, settings_due_at: never } },
    // A person signs in to the workspace that they joined first, so twins join later.
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
    // Any worker can claim a queued run, so queued runs of twins are stored as cancelled.
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
      // Rows without a workspace belong to the person, who is the same in both workspaces.
      of: 'NEW.workspace_id IS NOT NULL',
    },
    // Any gateway reviews receipts that arrived after the revocation of their key, so receipts of twins are old.
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
