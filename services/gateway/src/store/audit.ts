import {
  headOf,
  listEntries,
  recordEntry,
  tellEntry,
  type AuditAct,
  type AuditFacts,
  type AuditRow,
  type EntriesAsked,
  type EntryQuery,
} from '@countersign/audit';
import { WorkspaceId, type AuditExportEnd } from '@countersign/contracts';
import type { AuditEntry } from '@countersign/contracts/gateway';
import type { AuditHeadModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import type { Page } from './page.ts';

type AuditEvent = AuditAct & { workspaceId: string };

/**
 * Appends to the chain of the workspace in the caller's transaction. Call it late, since it locks the end of the chain
 * until the commit.
 */
export async function recordAudit(tx: Tx, { workspaceId, ...act }: AuditEvent, now: Date): Promise<void> {
  const end = {
    contentOf: contentIn(workspaceId),
    lockHead: async () => {
      const [head] = await tx.$queryRaw<Pick<AuditHeadModel, 'seq' | 'hash'>[]>`
        SELECT seq, hash FROM audit_heads WHERE workspace_id = ${workspaceId} FOR UPDATE`;
      if (head === undefined) throw new Error(`The workspace ${workspaceId} has no audit chain`);
      return head;
    },
    append: async (row: AuditRow) => {
      await tx.auditEntry.create({ data: { ...row, workspaceId } });
      await tx.auditHead.update({ where: { workspaceId }, data: { seq: row.seq, hash: row.hash } });
    },
  };
  await recordEntry(end, act, { id: newId('aud'), now });
}

/** Creates the chain of a new workspace. */
export async function openAuditChain(tx: Tx, workspaceId: string): Promise<void> {
  await tx.auditHead.create({ data: { workspaceId, seq: 0, hash: '' } });
}

/** The place of the last entry of a chain. */
export async function findAuditEnd(reader: Reader, workspaceId: string): Promise<AuditExportEnd['end']> {
  return headOf(await reader.auditHead.findUniqueOrThrow({ where: { workspaceId } }));
}

/** Like findAuditEnd, but `null` for an unknown workspace, for which findAuditEnd throws. */
export async function findAuditHead(reader: Reader, workspaceId: string): Promise<AuditExportEnd['end'] | null> {
  const head = await reader.auditHead.findUnique({ where: { workspaceId } });
  return head === null ? null : headOf(head);
}

/** The places where the chains of these workspaces end now. */
export async function listAuditEnds(
  reader: Reader,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const heads = await reader.auditHead.findMany({ where: { workspaceId: { in: [...workspaceIds] } } });
  return new Map(heads.map(({ workspaceId, seq }) => [workspaceId, seq]));
}

/** Entries from `seq` on, oldest first. */
export async function listAuditFrom(
  reader: Reader,
  { workspaceId, seq, limit }: { workspaceId: string; seq: number; limit: number },
): Promise<AuditEntry[]> {
  const where = { workspaceId, seq: { gte: seq } };
  const rows = await reader.auditEntry.findMany({ where, orderBy: { seq: 'asc' }, take: limit });
  return rows.map((row) => tellEntry(row, contentIn(workspaceId)));
}

/** Newest first. */
export async function listAuditEntries(
  reader: Reader,
  workspaceId: string,
  request: EntriesAsked,
): Promise<Page<AuditEntry>> {
  const chain = {
    contentOf: contentIn(workspaceId),
    findRows: ({ where, ...order }: EntryQuery) =>
      reader.auditEntry.findMany({ where: { AND: [{ workspaceId }, ...where] }, ...order }),
    findTime: async (seq: number) =>
      (await reader.auditEntry.findFirst({ where: { workspaceId, seq } }))?.createdAt ?? null,
  };
  const { entries, nextCursor } = await listEntries(chain, request);
  return { data: entries, nextCursor };
}

function contentIn(workspaceId: string): (facts: AuditFacts) => Omit<AuditEntry, 'hash'> {
  return ({ id, ...facts }) => ({ id, workspaceId: WorkspaceId.parse(workspaceId), ...facts });
}
