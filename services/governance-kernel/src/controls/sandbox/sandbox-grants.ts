import type { Digest, PrincipalId, ReceiptId, SandboxGrantId, TenantId } from '@countersign/contracts';
import type { SandboxSubject, SandboxTerms } from '@countersign/contracts/governance-kernel';
import { columnsOf, instantMs, json, nullable, selectByKey, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

export type SandboxGrantRow = {
  readonly tenant: TenantId;
  /** `server:<name>` or `tool:<name>`. */
  readonly subject: string;
  readonly id: SandboxGrantId;
  readonly terms: SandboxTerms;
  readonly grantHash: Digest;
  /** The hash of the server's configuration at the time of the grant. `null` for a tool. */
  readonly configHash: Digest | null;
  readonly createdBy: PrincipalId;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly receiptId: ReceiptId;
};

/** The newest grant of each subject. Replaced grants remain in the records that sealed them. */
export const sandboxGrants: Control<TenantId, SandboxGrantRow> = {
  name: 'sandbox_grants',
  guard: 'epoch',
  ...selectByKey('sandbox_grants', ['tenant_id']),
  ...columnsOf<SandboxGrantRow>({
    tenant: text('tenant_id'),
    subject: text('subject'),
    id: text('grant_id'),
    terms: json('terms'),
    grantHash: text('grant_hash'),
    configHash: nullable(text('config_hash')),
    createdBy: text('created_by'),
    createdAtMs: instantMs('created_at'),
    expiresAtMs: instantMs('expires_at'),
    receiptId: text('receipt_id'),
  }),
  writes: { table: 'sandbox_grants', primaryKey: ['tenant_id', 'subject'], put: { kind: 'upsert' } },
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant, subject }) => `${tenant}\n${subject}`,
  setsOf: ({ tenant }) => [tenant],
};

export function subjectText(subject: SandboxSubject): string {
  return 'tool' in subject ? `tool:${subject.tool}` : `server:${subject.server_id}`;
}

export function subjectOf(text: string): SandboxSubject {
  const name = text.slice(text.indexOf(':') + 1);
  return text.startsWith('tool:') ? { tool: name } : { server_id: name }; // only `subjectText` writes these
}
