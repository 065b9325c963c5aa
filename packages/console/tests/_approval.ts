import { at, workspaceId } from './_dom.tsx';

const hash = `sha256:${'0'.repeat(64)}`;

/** A pending approval, as the kernel returns it. */
export const approvalCalled = (nth: number) => ({
  ...{ approval_id: `apr_01ARZ3NDEKTSV4RRFFQ69G5FA${nth}`, state: 'pending', tenant_id: workspaceId },
  ...{ requested_by: 'crawler', session_id: 's', action: 'tool.call', tool: 'files.write_file', resource: null },
  ...{ effect_level: 'E3', demand: { tool_calls: 1, spend_micros: null, egress_bytes: 0, writes: 1 }, facts: {} },
  ...{
    args: null,

    intent_hash: hash,
    judged_hash: hash,
    policy_hash: hash,
    receipt_id: null,
    reason: 'a rule',
  },
  ...{ preconditions: { tool_definition_hash: null, budgets: null }, quorum: 1, approvers: [], approved_by: [] },
  ...{ scope: 'once', uses_remaining: 1, rejection_reason: null, timelock_seconds: 0, timelock_until: null },
  ...{ break_glass: null, expires_at: '2126-11-27T12:00:00.000Z', ceremony_hash: hash, created_at: at, updated_at: at },
});
