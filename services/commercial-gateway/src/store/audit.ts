import { recordEntry, type AuditAct, type AuditFacts, type AuditRow } from '@countersign/audit';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { newAuditId } from '../ids.ts';
import type { Tx } from './database.ts';

type AuditContent = Omit<AuditFacts, 'requestId' | 'createdAt' | 'prevHash'> & {
  scope: OrgId;
  request_id: AuditFacts['requestId'];
  created_at: AuditFacts['createdAt'];
  prev_hash: AuditFacts['prevHash'];
};

/**
 * Appends to the audit chain of an organisation in the caller's transaction. Call it last: it locks the end of the
 * chain until the commit. The members of an entry are defined by `countersign/audit-export.v2`, with the organisation
 * as `scope`.
 */
export async function recordAudit(tx: Tx, { scope, ...act }: AuditAct & { scope: OrgId }, now: Date): Promise<void> {
  const end = {
    contentOf: contentIn(scope),
    lockHead: () => lockHead(tx, scope),
    append: async (row: AuditRow) => {
      await tx.auditEntry.create({ data: { ...row, scope } });
      await tx.auditHead.update({ where: { scope }, data: { seq: row.seq, hash: row.hash } });
    },
  };
  await recordEntry(end, act, { id: newAuditId(), now });
}

async function lockHead(tx: Tx, scope: OrgId): Promise<{ seq: number; hash: string }> {
  await tx.auditHead.createMany({ data: { scope, seq: 0, hash: '' }, skipDuplicates: true });
  await tx.$executeRaw`SELECT FROM audit_heads WHERE scope = ${scope} FOR UPDATE`;
  return tx.auditHead.findUniqueOrThrow({ where: { scope } });
}

/** Returns the members of an entry that its hash covers. */
export function contentIn(scope: OrgId): (facts: AuditFacts) => AuditContent {
  return ({ requestId, createdAt, prevHash, ...facts }) => ({
    scope,
    ...facts,
    request_id: requestId,
    created_at: createdAt,
    prev_hash: prevHash,
  });
}
