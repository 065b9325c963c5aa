import { auditMembers, AuditVerdict, Digest, Instant } from '@countersign/contracts';
import type { JsonValue } from '@countersign/crypto';

/** An entry without its hash and its scope. Each service adds the scope in its own form. */
export type AuditFacts = {
  id: string;
  /** From 1, without gaps. */
  seq: number;
  action: string;
  actor: string;
  verdict: AuditVerdict;
  reason: string;
  subject: string | null;
  details: { [member: string]: JsonValue };
  requestId: string | null;
  createdAt: Instant;
  prevHash: Digest | null;
};

/** A row of `audit_entries`. `details` is the canonical JSON that was hashed. */
export type AuditRow = Omit<AuditFacts, 'verdict' | 'details' | 'createdAt' | 'prevHash'> & {
  verdict: string;
  details: string;
  createdAt: Date;
  prevHash: string | null;
  hash: string;
};

/** A row of `audit_heads`: the end of a chain. `seq` is 0 and `hash` is empty before the first entry. */
export type AuditHead = { seq: number; hash: string };

/** The end of a chain, as the API returns it. */
export function headOf({ seq, hash }: AuditHead): { seq: number; hash: Digest | null } {
  return { seq, hash: seq === 0 ? null : Digest.parse(hash) };
}

/**
 * An entry in the form of its service. It contains all members that were hashed, and the hash, so a reader can
 * recompute the chain.
 */
export function tellEntry<Content extends object>(
  row: AuditRow,
  contentOf: (facts: AuditFacts) => Content,
): Content & { hash: Digest } {
  return { ...contentOf(factsOf(row)), hash: Digest.parse(row.hash) };
}

function factsOf(row: AuditRow): AuditFacts {
  return {
    id: row.id,
    seq: row.seq,
    action: row.action,
    actor: row.actor,
    verdict: AuditVerdict.parse(row.verdict),
    reason: row.reason,
    subject: row.subject,
    details: auditMembers.details.parse(JSON.parse(row.details)),
    requestId: row.requestId,
    createdAt: Instant.parse(row.createdAt.toISOString()),
    prevHash: row.prevHash === null ? null : Digest.parse(row.prevHash),
  };
}
