import type { ApprovalRow } from '../approvals/approval-row.ts';
import type { DispatchRow } from '../boundary/dispatch-row.ts';
import type { BudgetRow } from '../budgets/budget-row.ts';
import type { IdempotencyRow, ToolRow } from '../ledger/batch.ts';
import type { PolicyHead } from '../policy/policy-head.ts';

/** As the driver gives them: timestamps as Date, inside JSON as text; bigint as text, inside JSON as number. */
type Timestamp = Date | string;
type BigIntText = string | number;

/** Rows that only the kernel writes, so their text is what its own types say. */
export type ApprovalDriverRow = {
  approval_id: ApprovalRow['id'];
  tenant_id: ApprovalRow['tenant'];
  state: ApprovalRow['state'];
  requested_by: ApprovalRow['requestedBy'];
  session_id: ApprovalRow['session'];
  action: string;
  tool: string | null;
  resource: string | null;
  effect_level: ApprovalRow['effectLevel'];
  args_hash: ApprovalRow['argsHash'];
  intent_hash: ApprovalRow['intentHash'];
  policy_hash: ApprovalRow['policyHash'];
  policy_epoch: number;
  receipt_id: ApprovalRow['receiptId'];
  reason: string;
  quorum: number;
  approvers: ApprovalRow['approvers'];
  approved_by: ApprovalRow['approvedBy'];
  scope: string;
  uses_remaining: number;
  timelock_until: Timestamp | null;
  expires_at: Timestamp;
  ceremony_hash: ApprovalRow['ceremonyHash'];
  created_at: Timestamp;
  updated_at: Timestamp;
};

type Amounts<Kind extends string> = Record<
  `${Kind}_${'tool_calls' | 'spend_minor' | 'egress_bytes' | 'writes'}`,
  BigIntText
>;

export type BudgetDriverRow = Amounts<'used'> &
  Amounts<'reserved'> & {
    tenant_id: BudgetRow['tenant'];
    budget_id: BudgetRow['id'];
    subject: string;
    window: BudgetRow['window'];
    tool_call_limit: BigIntText | null;
    spend_limit_minor: BigIntText | null;
    egress_limit_bytes: BigIntText | null;
    write_limit: BigIntText | null;
    approval_required_above_minor: BigIntText | null;
    currency: string | null;
    resets_at: Timestamp | null;
  };

export type ToolDriverRow = {
  server_id: string;
  tool_name: string;
  state: ToolRow['state'];
  pinned_hash: string | null;
};

export type DispatchDriverRow = {
  ulid: string;
  tenant_id: DispatchRow['tenant'];
  state: DispatchRow['state'];
  reservations: DispatchRow['reservations'];
  deadline_at: Timestamp;
};

export type IdempotencyDriverRow = {
  tenant_id: IdempotencyRow['tenant'];
  principal_id: string;
  route: string;
  key: string;
  fingerprint: string;
  answer: string | null;
};

export function approvalRow(row: ApprovalDriverRow): ApprovalRow {
  return {
    id: row.approval_id,
    tenant: row.tenant_id,
    state: row.state,
    requestedBy: row.requested_by,
    session: row.session_id,
    action: row.action,
    tool: row.tool,
    resource: row.resource,
    effectLevel: row.effect_level,
    argsHash: row.args_hash,
    intentHash: row.intent_hash,
    policyHash: row.policy_hash,
    policyEpoch: row.policy_epoch,
    receiptId: row.receipt_id,
    reason: row.reason,
    quorum: row.quorum,
    approvers: row.approvers,
    approvedBy: row.approved_by,
    scope: row.scope,
    usesRemaining: row.uses_remaining,
    timelockUntilMs: milliseconds(row.timelock_until),
    expiresAtMs: new Date(row.expires_at).getTime(),
    ceremonyHash: row.ceremony_hash,
    createdAtMs: new Date(row.created_at).getTime(),
    updatedAtMs: new Date(row.updated_at).getTime(),
  };
}

export function budgetRow(row: BudgetDriverRow): BudgetRow {
  return {
    tenant: row.tenant_id,
    id: row.budget_id,
    subject: row.subject,
    window: row.window,
    limits: {
      tool_calls: amount(row.tool_call_limit),
      spend_minor: amount(row.spend_limit_minor),
      egress_bytes: amount(row.egress_limit_bytes),
      writes: amount(row.write_limit),
    },
    approvalRequiredAboveMinor: amount(row.approval_required_above_minor),
    currency: row.currency,
    used: amounts(row, 'used'),
    reserved: amounts(row, 'reserved'),
    resetsAtMs: milliseconds(row.resets_at),
  };
}

export function toolRow(row: ToolDriverRow): ToolRow {
  return { serverId: row.server_id, toolName: row.tool_name, state: row.state, pinnedHash: row.pinned_hash };
}

export function dispatchRow(row: DispatchDriverRow): DispatchRow {
  return {
    ulid: row.ulid,
    tenant: row.tenant_id,
    state: row.state,
    reservations: row.reservations,
    deadlineAtMs: new Date(row.deadline_at).getTime(),
  };
}

export function idempotencyRow(row: IdempotencyDriverRow): IdempotencyRow {
  return {
    tenant: row.tenant_id,
    principal: row.principal_id,
    route: row.route,
    key: row.key,
    fingerprint: row.fingerprint,
    answer: row.answer,
  };
}

export function policyHead([tenant, epoch, hash, confirmedAtMs]: [
  string,
  number,
  PolicyHead['hash'],
  number,
]): PolicyHead {
  return { tenant, epoch, hash, confirmedAtMs };
}

function amounts(row: BudgetDriverRow, kind: 'used' | 'reserved') {
  return {
    tool_calls: Number(row[`${kind}_tool_calls`]),
    spend_minor: Number(row[`${kind}_spend_minor`]),
    egress_bytes: Number(row[`${kind}_egress_bytes`]),
    writes: Number(row[`${kind}_writes`]),
  };
}

function amount(value: BigIntText | null): number | null {
  return value === null ? null : Number(value);
}

function milliseconds(value: Timestamp | null): number | null {
  return value === null ? null : new Date(value).getTime();
}
