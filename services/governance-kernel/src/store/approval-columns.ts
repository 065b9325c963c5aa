import type { ApprovalRow } from '../approvals/approval-row.ts';

type Column = { name: string; type: string; value(row: ApprovalRow): unknown };

const column = (name: string, type: string, value: Column['value']): Column => ({ name, type, value });
const instant = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
/** PostgreSQL's unnest flattens nested arrays, so lists travel as JSON text and are unpacked by the statement. */
const list = (values: readonly string[]) => JSON.stringify(values);

/** One place for the order of columns: the write statement and its parameters are both made from this table. */
const columns: Column[] = [
  column('approval_id', 'text', (row) => row.id),
  column('tenant_id', 'text', (row) => row.tenant),
  column('state', 'text', (row) => row.state),
  column('requested_by', 'text', (row) => row.requestedBy),
  column('session_id', 'text', (row) => row.session),
  column('action', 'text', (row) => row.action),
  column('tool', 'text', (row) => row.tool),
  column('resource', 'text', (row) => row.resource),
  column('effect_level', 'text', (row) => row.effectLevel),
  column('args_hash', 'text', (row) => row.argsHash),
  column('intent_hash', 'text', (row) => row.intentHash),
  column('policy_hash', 'text', (row) => row.policyHash),
  column('policy_epoch', 'int', (row) => row.policyEpoch),
  column('receipt_id', 'text', (row) => row.receiptId),
  column('reason', 'text', (row) => row.reason),
  column('quorum', 'int', (row) => row.quorum),
  column('approvers', 'list', (row) => list(row.approvers)),
  column('approved_by', 'list', (row) => list(row.approvedBy)),
  column('scope', 'text', (row) => row.scope),
  column('uses_remaining', 'int', (row) => row.usesRemaining),
  column('timelock_until', 'timestamptz', (row) => instant(row.timelockUntilMs)),
  column('expires_at', 'timestamptz', (row) => instant(row.expiresAtMs)),
  column('ceremony_hash', 'text', (row) => row.ceremonyHash),
  column('created_at', 'timestamptz', (row) => instant(row.createdAtMs)),
  column('updated_at', 'timestamptz', (row) => instant(row.updatedAtMs)),
];

const names = columns.map(({ name }) => name).join(', ');
const selected = columns
  .map(({ name, type }) =>
    type === 'list' ? `ARRAY(SELECT jsonb_array_elements_text(n.${name}::jsonb))` : `n.${name}`,
  )
  .join(', ');
const parameters = columns.map(({ type }, index) => `$${index + 1}::${type === 'list' ? 'text' : type}[]`).join(', ');
/** What a transition may change; everything else is what was asked for and stays. */
const changing = ['state', 'approved_by', 'uses_remaining', 'ceremony_hash', 'updated_at'];

/** Inserts new approvals and moves known ones. */
export const writeApprovals = `
INSERT INTO approvals (${names}) SELECT ${selected} FROM unnest(${parameters}) AS n(${names})
ON CONFLICT (approval_id) DO UPDATE SET ${changing.map((name) => `${name} = excluded.${name}`).join(', ')}`;

export function approvalParameters(rows: readonly ApprovalRow[]): unknown[] {
  return columns.map(({ value }) => rows.map(value));
}
