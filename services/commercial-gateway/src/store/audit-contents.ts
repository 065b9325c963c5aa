import { tellEntry } from '@countersign/audit';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { contentIn } from './audit.ts';
import type { Reader } from './database.ts';

const pageSize = 500;

/** Returns the recorded end of the chain of an organisation. Before the first entry, `seq` is 0 and `hash` is empty. */
export async function findAuditHead(reader: Reader, orgId: OrgId): Promise<{ seq: number; hash: string }> {
  const head = await reader.auditHead.findUnique({ where: { scope: orgId } });
  return { seq: head?.seq ?? 0, hash: head?.hash ?? '' };
}

/** Returns the entries after `after`, in order. Each has its hash and the content that the hash covers. */
export async function listAuditContents(reader: Reader, orgId: OrgId, { after }: { after: number }) {
  const where = { scope: orgId, seq: { gt: after } };
  const rows = await reader.auditEntry.findMany({ where, orderBy: { seq: 'asc' }, take: pageSize });
  return rows.map((row) => {
    const { hash, ...content } = tellEntry(row, contentIn(orgId));
    return { content, hash };
  });
}
