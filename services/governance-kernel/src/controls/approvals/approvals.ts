import type { ApprovalId, PrincipalId } from '@countersign/contracts';
import type { ApprovalRow } from './approval-row.ts';
import { columnsOf, instantMs, integer, json, keys, nullable, text, texts } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';
import { chainName, type ChainKey } from '../../ledger/statement.ts';

/** The approvals of one intent that are pending, approved or denied; or one approval by its id, in any state. */
type ApprovalsKey = ChainKey & ({ readonly intentHash: string } | { readonly id: ApprovalId });

const isActive = `state IN ('pending', 'approved', 'denied')`;
const idOf = (of: ChainKey & { id: ApprovalId }) => `${chainName(of)}\nid\n${of.id}`;
const intentOf = (of: ChainKey & { intentHash: string }) => `${chainName(of)}\nintent\n${of.intentHash}`;

/** The columns that a vote, a use or the end of an approval changes. */
const movedColumns = [
  ...['state', 'approved_by', 'approved_with', 'approved_as', 'approved_credentials', 'scope', 'uses_remaining'],
  ...['ceremony_hash', 'updated_at', 'rejection_reason', 'args_encrypted', 'timelock_until', 'expires_at'],
];
/** The columns about break glass. Once they are set, they do not change. */
const brokenColumns = ['broken_by', 'broken_reason', 'broken_at', 'broken_with'];
const keepFirst = (column: string) => [column, `coalesce(t.${column}, excluded.${column})`] as const;

/**
 * Each change of an approval seals a receipt in its session. The head of the session's chain is therefore the version
 * of its approvals.
 */
export const approvals: Control<ApprovalsKey, ApprovalRow> = {
  name: 'approvals',
  guard: 'chain',
  keyColumns: 4,
  select: (parameter) => {
    const wanted = `${keys(parameter, 4)} AS wanted(tenant_id, session_id, intent_hash, approval_id)`;
    return `SELECT r.* FROM ${wanted} JOIN approvals r USING (tenant_id, session_id, intent_hash) WHERE r.${isActive}
      UNION ALL SELECT r.* FROM ${wanted} JOIN approvals r USING (tenant_id, session_id, approval_id)`;
  },
  ...columnsOf<ApprovalRow>({
    id: text('approval_id'),
    tenant: text('tenant_id'),
    state: text('state'),
    requestedBy: text('requested_by'),
    sponsor: nullable(text<PrincipalId>('sponsor')),
    session: text('session_id'),
    action: text('action'),
    tool: nullable(text('tool')),
    resource: nullable(text('resource')),
    effectLevel: text('effect_level'),
    demand: json('demand'),
    facts: json('facts'),
    cappedFacts: nullable(json('capped_facts')),
    argsHash: text('args_hash'),
    argsEncrypted: nullable(text('args_encrypted')),
    intentHash: text('intent_hash'),
    judgedHash: text('judged_hash'),
    policyHash: nullable(text('policy_hash')),
    policyEpoch: integer('policy_epoch'),
    preconditions: json('preconditions'),
    receiptId: nullable(text('receipt_id')),
    reason: text('reason'),
    quorum: integer('quorum'),
    approvers: texts('approvers'),
    approvedBy: texts('approved_by'),
    approvedWith: texts('approved_with'),
    approvedAs: texts('approved_as'),
    approvedCredentials: texts('approved_credentials'),
    scope: text('scope'),
    usesRemaining: integer('uses_remaining'),
    rejectionReason: nullable(text('rejection_reason')),
    timelockSeconds: integer('timelock_seconds'),
    timelockUntilMs: nullable(instantMs('timelock_until')),
    brokenBy: nullable(text('broken_by')),
    brokenReason: nullable(text('broken_reason')),
    brokenAtMs: nullable(instantMs('broken_at')),
    brokenWith: nullable(text('broken_with')),
    expiresAtMs: instantMs('expires_at'),
    ceremonyHash: text('ceremony_hash'),
    createdAtMs: instantMs('created_at'),
    updatedAtMs: instantMs('updated_at'),
  }),
  writes: {
    table: 'approvals',
    primaryKey: ['approval_id'],
    put: { kind: 'upsert', updated: movedColumns, merged: Object.fromEntries(brokenColumns.map(keepFirst)) },
    defaults: { approved_as: "'{}'", approved_credentials: "'{}'" },
  },
  keyValues: (key) => {
    const chain = [key.tenant, key.session];
    return 'id' in key ? [...chain, null, key.id] : [...chain, key.intentHash, null];
  },
  keyText: (key) => ('id' in key ? idOf(key) : intentOf(key)),
  idOf,
  setsOf: (row) => (isStanding(row) ? [idOf(row), intentOf(row)] : [idOf(row)]),
  quiet: {
    sql: `NOT EXISTS (SELECT 1 FROM approvals a WHERE a.tenant_id = h.tenant_id AND a.session_id = h.session_id AND a.${isActive})`,
    covers: (key) => 'intentHash' in key,
    chainOf: ({ tenant, session }) => ({ tenant, session }),
  },
};

function isStanding({ state }: ApprovalRow): boolean {
  return state === 'pending' || state === 'approved' || state === 'denied';
}
