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
import type { AuditScope, HintType, ScopedAuditEntry } from '@countersign/contracts/control-plane';
import { newAuditId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { recordHint } from './hints.ts';

type AuditEvent = AuditAct & {
  /** The scope of the chain: a workspace, or the person whose sign-ins it records. */
  scope: AuditScope;
};

/**
 * Appends to the chain of a workspace or a person in the caller's transaction, and notifies the pages of a workspace.
 * The first entry creates the chain. Call it late, since it locks the end of the chain until the commit. If you lock
 * two chains, lock that of the workspace first.
 */
export async function recordAudit(tx: Tx, { scope, ...act }: AuditEvent, now: Date): Promise<void> {
  const end = {
    contentOf: contentIn(scope),
    lockHead: () => lockHead(tx, scope),
    append: async (row: AuditRow) => {
      await tx.auditEntry.create({ data: { ...row, scope } });
      await tx.auditHead.update({ where: { scope }, data: { seq: row.seq, hash: row.hash } });
    },
  };
  await recordEntry(end, act, { id: newAuditId(), now });
  const workspace = WorkspaceId.safeParse(scope);
  if (!workspace.success) return;
  const { action, subject = null } = act;
  await recordHint(tx, workspace.data, { type: hintTypeOf(action), ref: subject, version: null }, now);
}

/** The hint types of changes by this service, by the first word of the action. */
const hintTypes: Readonly<Record<string, HintType>> = { incident: 'incident', ops: 'fence', policy: 'policy' };

function hintTypeOf(action: string): HintType {
  return hintTypes[action.split('.')[0] ?? ''] ?? 'audit';
}

/**
 * Locks the head of a chain: the row with its last place and hash. A new chain gets a head. If the head of an existing
 * chain was removed, the chain cannot begin again, since its first place is occupied.
 */
async function lockHead(tx: Tx, scope: AuditScope): Promise<{ seq: number; hash: string }> {
  if ((await tx.$executeRaw`SELECT FROM audit_heads WHERE scope = ${scope} FOR UPDATE`) === 0) {
    await tx.auditHead.createMany({ data: { scope, seq: 0, hash: '' }, skipDuplicates: true });
    await tx.$executeRaw`SELECT FROM audit_heads WHERE scope = ${scope} FOR UPDATE`;
  }
  return tx.auditHead.findUniqueOrThrow({ where: { scope } });
}

/** The place of the last entry of a chain. Zero for a chain without entries. */
export async function findAuditEnd(reader: Reader, scope: AuditScope): Promise<AuditExportEnd['end']> {
  return headOf((await reader.auditHead.findUnique({ where: { scope } })) ?? { seq: 0, hash: '' });
}

/** Entries from `seq` on, oldest first. */
export async function listAuditFrom(
  reader: Reader,
  { scope, seq, limit }: { scope: AuditScope; seq: number; limit: number },
): Promise<ScopedAuditEntry[]> {
  const where = { scope, seq: { gte: seq } };
  const rows = await reader.auditEntry.findMany({ where, orderBy: { seq: 'asc' }, take: limit });
  return rows.map((row) => tellEntry(row, contentIn(scope)));
}

type AuditPage = { data: ScopedAuditEntry[]; next_cursor: string | null };

/** Newest first. */
export async function listAuditEntries(reader: Reader, scope: AuditScope, query: EntriesAsked): Promise<AuditPage> {
  const chain = {
    contentOf: contentIn(scope),
    findRows: ({ where, ...order }: EntryQuery) =>
      reader.auditEntry.findMany({ where: { AND: [{ scope }, ...where] }, ...order }),
    findTime: async (seq: number) => (await reader.auditEntry.findFirst({ where: { scope, seq } }))?.createdAt ?? null,
  };
  const { entries, nextCursor } = await listEntries(chain, query);
  return { data: entries, next_cursor: nextCursor };
}

function contentIn(scope: AuditScope): (facts: AuditFacts) => Omit<ScopedAuditEntry, 'hash'> {
  return ({ id, requestId, createdAt, prevHash, ...facts }) => ({
    id,
    scope,
    ...facts,
    request_id: requestId,
    created_at: createdAt,
    prev_hash: prevHash,
  });
}
