import { createHash } from 'node:crypto';
import { canonicalize, type JsonValue } from '@countersign/crypto';

type AuditContent = {
  id: string;
  workspaceId: string;
  seq: number;
  action: string;
  actor: string;
  verdict: string;
  reason: string;
  subject: string | null;
  details: JsonValue;
  requestId: string | null;
  createdAt: string;
  prevHash: string | null;
};

/** SHA-256 over the canonical JSON of all members but the hash itself: anyone with the entries can recompute the chain. */
export function auditHash(content: AuditContent): string {
  return `sha256:${createHash('sha256')
    .update(canonicalize({ ...content }))
    .digest('hex')}`;
}

export type ChainFault = { seq: number; fault: 'hash' | 'link' | 'gap' | 'head' };

/**
 * Checks a whole chain, oldest first, against the head that was kept beside it. Returns null when it is intact, else the first
 * fault: an edited row, a broken link, a missing row, or a cut tail.
 */
export function findChainFault(
  entries: readonly (AuditContent & { hash: string })[],
  head: { seq: number; hash: string } | null,
): ChainFault | null {
  for (const [index, { hash, ...content }] of entries.entries()) {
    if (content.seq !== index + 1) return { seq: content.seq, fault: 'gap' };
    if (content.prevHash !== (entries[index - 1]?.hash ?? null)) return { seq: content.seq, fault: 'link' };
    if (auditHash(content) !== hash) return { seq: content.seq, fault: 'hash' };
  }
  const last = entries.at(-1);
  const intact = last?.seq === head?.seq && last?.hash === head?.hash;
  return intact ? null : { seq: head?.seq ?? 0, fault: 'head' };
}
