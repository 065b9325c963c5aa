import { Digest, WorkspaceId } from '@countersign/contracts';
import type { AuditEntry, AuditExportEnd, AuditVerdict } from '@countersign/contracts/gateway';
import { AuditEntry as AuditEntryShape, AuditVerdict as AuditVerdictShape } from '@countersign/contracts/gateway';
import { canonicalize, type JsonValue } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { auditHash } from '@countersign/verifier';
import type { Prisma } from '../generated/prisma/client.ts';
import type { AuditEntryModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { instant } from './instant.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';

type AuditEvent = {
  workspaceId: string;
  action: string;
  actor: string;
  verdict: AuditVerdict;
  reason?: string;
  subject?: string | null;
  details?: { [member: string]: JsonValue };
  requestId?: string | null;
};

/** Appends to the workspace's chain in the caller's transaction. Call it late: it holds the chain's end until the commit. */
export async function recordAudit(tx: Tx, event: AuditEvent, now: Date): Promise<void> {
  const { workspaceId } = event;
  await tx.$executeRaw`SELECT FROM audit_heads WHERE workspace_id = ${workspaceId} FOR UPDATE`;
  const head = await tx.auditHead.findUniqueOrThrow({ where: { workspaceId } });
  const seq = head.seq + 1;
  const content = {
    id: newId('aud'),
    workspaceId,
    seq,
    action: event.action,
    actor: event.actor,
    verdict: event.verdict,
    reason: event.reason ?? 'ok',
    subject: event.subject ?? null,
    details: event.details ?? {},
    requestId: event.requestId ?? null,
    createdAt: now.toISOString(),
    prevHash: head.seq === 0 ? null : head.hash,
  };
  const hash = auditHash(nodeProvider, content);
  const entry = { ...content, details: canonicalize(content.details), createdAt: now, hash };
  await tx.auditEntry.create({ data: entry });
  await tx.auditHead.update({ where: { workspaceId }, data: { seq, hash } });
}

/** Begins the chain of a new workspace. */
export async function openAuditChain(tx: Tx, workspaceId: string): Promise<void> {
  await tx.auditHead.create({ data: { workspaceId, seq: 0, hash: '' } });
}

/** Where the chain of a workspace ends now. */
export async function findAuditEnd(reader: Reader, workspaceId: string): Promise<AuditExportEnd['end']> {
  const { seq, hash } = await reader.auditHead.findUniqueOrThrow({ where: { workspaceId } });
  return { seq, hash: seq === 0 ? null : Digest.parse(hash) };
}

/** The places where the chains of these workspaces end now. */
export async function listAuditEnds(
  reader: Reader,
  workspaceIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const heads = await reader.auditHead.findMany({ where: { workspaceId: { in: [...workspaceIds] } } });
  return new Map(heads.map(({ workspaceId, seq }) => [workspaceId, seq]));
}

/** Entries from the place `seq` on, oldest first. */
export async function listAuditFrom(
  reader: Reader,
  { workspaceId, seq, limit }: { workspaceId: string; seq: number; limit: number },
): Promise<AuditEntry[]> {
  const where = { workspaceId, seq: { gte: seq } };
  const rows = await reader.auditEntry.findMany({ where, orderBy: { seq: 'asc' }, take: limit });
  return rows.map(auditEntryOf);
}

type AuditFilter = {
  action?: string | undefined;
  actor?: string | undefined;
  verdict?: AuditVerdict | undefined;
  /** Inclusive. */
  from?: string | undefined;
  /** Exclusive. */
  to?: string | undefined;
};

/** Newest first: by place in the chain, and by time where times are asked for, since the place alone does not lead to them. */
export async function listAuditEntries(
  reader: Reader,
  workspaceId: string,
  request: AuditFilter & PageRequest,
): Promise<Page<AuditEntry>> {
  const isTimed = request.from !== undefined || request.to !== undefined;
  const rows = await reader.auditEntry.findMany({
    where: { AND: [{ workspaceId, ...matching(request) }, await older(reader, { workspaceId, isTimed, request })] },
    orderBy: isTimed ? [{ createdAt: 'desc' }, { seq: 'desc' }] : { seq: 'desc' },
    take: request.limit + 1,
  });
  return pageOf(rows, request, { item: auditEntryOf, key: (row) => String(row.seq) });
}

function matching({ action, actor, verdict, from, to }: AuditFilter) {
  return {
    ...(action !== undefined && { action }),
    ...(actor !== undefined && { actor }),
    ...(verdict !== undefined && { verdict }),
    createdAt: { ...(from !== undefined && { gte: from }), ...(to !== undefined && { lt: to }) },
  };
}

type Paging = { workspaceId: string; isTimed: boolean; request: PageRequest };

/** What comes behind the last entry that was seen; a cursor that names none begins anew. */
async function older(reader: Reader, { workspaceId, isTimed, request }: Paging): Promise<Prisma.AuditEntryWhereInput> {
  const seq = Number(olderThan(request).lt);
  if (!Number.isInteger(seq) || seq > seqMax) return {};
  if (!isTimed) return { seq: { lt: seq } };
  const seen = await reader.auditEntry.findFirst({ where: { workspaceId, seq }, select: { createdAt: true } });
  if (seen === null) return {};
  const { createdAt } = seen;
  return { createdAt: { lte: createdAt }, NOT: { createdAt, seq: { gte: seq } } };
}

/** The column is an INTEGER. */
const seqMax = 2_147_483_647;

function auditEntryOf(row: AuditEntryModel): AuditEntry {
  return {
    id: row.id,
    workspaceId: WorkspaceId.parse(row.workspaceId),
    seq: row.seq,
    action: row.action,
    actor: row.actor,
    verdict: AuditVerdictShape.parse(row.verdict),
    reason: row.reason,
    subject: row.subject,
    details: AuditEntryShape.shape.details.parse(JSON.parse(row.details)),
    requestId: row.requestId,
    createdAt: instant(row.createdAt),
    prevHash: row.prevHash === null ? null : Digest.parse(row.prevHash),
    hash: Digest.parse(row.hash),
  };
}
