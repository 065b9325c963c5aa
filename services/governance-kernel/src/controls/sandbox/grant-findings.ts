import { instantOf, type Digest } from '@countersign/contracts';
import type { BoundaryRecord, GrantFinding } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { grantHash } from './grant-hash.ts';
import type { SandboxGrantRow } from './sandbox-grants.ts';

type Evidence = {
  /** The record of the receipt that sealed the grant. */
  record: BoundaryRecord | null;
  /** The configuration that the server of the grant has now. `null` for a tool, and for a server that is gone. */
  configHash: Digest | null;
  /** The reason why a program cannot start under the terms on this host. */
  refusal: string | null;
  nowMs: number;
};

/** The reasons why nothing may run under a grant. Empty when it is unchanged, valid and supported by this host. */
export function grantFindings(
  provider: CryptoProvider,
  row: SandboxGrantRow,
  { record, configHash, refusal, nowMs }: Evidence,
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
    findings.push({ code: 'EXPIRED', detail: `The grant expired at ${instantOf(row.expiresAtMs)}` });
  if (row.configHash !== configHash)
    findings.push({
      code: 'CONFIGURATION_CHANGED',
      detail: 'The configuration of the server changed after the grant. Grant it again.',
    });
  if (refusal !== null) findings.push({ code: 'NOT_OFFERED', detail: refusal });
  return findings;
}

function isSealed(
  { subject, grantHash: hash, configHash, id }: SandboxGrantRow,
  record: BoundaryRecord | null,
): boolean {
  if (record === null || record.intent.resource !== `sandbox_grant:${id}`) return false;
  const { facts } = record.intent;
  // Older records have no `config_hash`. Their grants have the configuration that the server had at the migration.
  const isSame = (facts['config_hash'] ?? configHash) === configHash;
  return facts['subject'] === subject && facts['grant_hash'] === hash && isSame;
}
