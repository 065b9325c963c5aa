import type { BoundaryRecord, GrantFinding } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { instant } from '../approvals/timelock.ts';
import { grantHash } from './grant-hash.ts';
import type { SandboxGrantRow } from './sandbox-grants.ts';

type Evidence = {
  /** The record of the receipt that sealed the grant. */
  record: BoundaryRecord | null;
  /** Why a program cannot start under the terms on this host. */
  refusal: string | null;
  nowMs: number;
};

/** Why nothing may run under a grant. Empty: it is what was sealed, it holds, and this host offers it. */
export function grantFindings(
  provider: CryptoProvider,
  row: SandboxGrantRow,
  { record, refusal, nowMs }: Evidence,
): GrantFinding[] {
  const findings: GrantFinding[] = [];
  if (grantHash(provider, row.terms) !== row.grantHash)
    findings.push({ code: 'HASH_MISMATCH', detail: 'The stored terms do not have the hash of the grant' });
  if (!isSealed(row, record))
    findings.push({
      code: 'RECEIPT_MISMATCH',
      detail: 'The receipt of the grant does not state this subject and hash',
    });
  if (nowMs >= row.expiresAtMs)
    findings.push({ code: 'EXPIRED', detail: `The grant expired at ${instant(row.expiresAtMs)}` });
  if (refusal !== null) findings.push({ code: 'NOT_OFFERED', detail: refusal });
  return findings;
}

function isSealed({ subject, grantHash: hash, id }: SandboxGrantRow, record: BoundaryRecord | null): boolean {
  if (record === null || record.intent.resource !== `sandbox_grant:${id}`) return false;
  const { facts } = record.intent;
  return facts['subject'] === subject && facts['grant_hash'] === hash;
}
