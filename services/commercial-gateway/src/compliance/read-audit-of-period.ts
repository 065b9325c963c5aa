import { nodeProvider } from '@countersign/crypto/node';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { auditHash } from '@countersign/verifier';
import { findAuditHead, listAuditContents } from '../store/audit-contents.ts';
import type { Reader } from '../store/database.ts';
import type { EvidenceTally } from './evidence-tally.ts';
import type { Period } from './read-receipts-of-period.ts';

/**
 * Verifies the whole audit chain of the organisation and counts its entries of the period. When `verified` is false, an entry was changed or
 * removed, and the caller must discard the tally.
 */
export async function countAuditEntries(
  reader: Reader,
  orgId: OrgId,
  { tally, period }: { tally: EvidenceTally; period: Period },
): Promise<{ entries: number; verified: boolean }> {
  const head = await findAuditHead(reader, orgId);
  let entries = 0;
  let [seq, previous]: [number, string | null] = [0, null];
  while (seq < head.seq) {
    const page = await listAuditContents(reader, orgId, { after: seq });
    for (const { content, hash } of page) {
      const isNext = content.seq === seq + 1 && content.prev_hash === previous;
      if (!isNext || auditHash(nodeProvider, content) !== hash) return { entries: 0, verified: false };
      [seq, previous] = [content.seq, hash];
      if (content.created_at >= period.from && content.created_at < period.to) {
        entries += 1;
        tally.addAuditEntry({ action: content.action, seq, hash });
      }
      if (seq === head.seq) break;
    }
    if (page.length === 0) return { entries: 0, verified: false };
  }
  if (head.seq > 0 && previous !== head.hash) return { entries: 0, verified: false };
  return { entries, verified: true };
}
