import { Digest, WorkspaceId } from '@countersign/contracts';
import type { AuditEntry, AuditVerdict } from '@countersign/contracts/gateway';
import { AuditEntry as AuditEntryShape, AuditVerdict as AuditVerdictShape } from '@countersign/contracts/gateway';
import { canonicalize, type JsonValue } from '@countersign/crypto';
import { auditHash } from '../audit/audit-chain.ts';
import { newId } from '../ids.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { instant, onlyRow, type Sql } from './sql.ts';

export type AuditEvent = {
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
export async function recordAudit(tx: Sql, event: AuditEvent, now: Date): Promise<void> {
  const head = await tx.query<{ seq: number; hash: string }>(
    'SELECT seq, hash FROM audit_heads WHERE workspace_id = $1 FOR UPDATE',
    [event.workspaceId],
  );
  const { seq, hash: prevHash } = onlyRow(head.rows);
  const content = {
    id: newId('aud'),
    workspaceId: event.workspaceId,
    seq: seq + 1,
    action: event.action,
    actor: event.actor,
    verdict: event.verdict,
    reason: event.reason ?? 'ok',
    subject: event.subject ?? null,
    details: event.details ?? {},
    requestId: event.requestId ?? null,
    createdAt: now.toISOString(),
    prevHash: seq === 0 ? null : prevHash,
  };
  const hash = auditHash(content);
  await tx.query(
    `INSERT INTO audit_entries (workspace_id, seq, id, action, actor, verdict, reason, subject, details, request_id, created_at, prev_hash, hash)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      content.workspaceId,
      content.seq,
      content.id,
      content.action,
      content.actor,
      content.verdict,
      content.reason,
      content.subject,
      canonicalize(content.details),
      content.requestId,
      now,
      content.prevHash,
      hash,
    ],
  );
  await tx.query('UPDATE audit_heads SET seq = $2, hash = $3 WHERE workspace_id = $1', [
    event.workspaceId,
    content.seq,
    hash,
  ]);
}

/** Begins the chain of a new workspace. */
export async function openAuditChain(tx: Sql, workspaceId: string): Promise<void> {
  await tx.query(`INSERT INTO audit_heads (workspace_id, seq, hash) VALUES ($1, 0, '')`, [workspaceId]);
}

type AuditRow = {
  workspace_id: string;
  seq: number;
  id: string;
  action: string;
  actor: string;
  verdict: string;
  reason: string;
  subject: string | null;
  details: string;
  request_id: string | null;
  created_at: Date;
  prev_hash: string | null;
  hash: string;
};

export type AuditFilter = {
  action?: string | undefined;
  actor?: string | undefined;
  verdict?: AuditVerdict | undefined;
  from?: string | undefined;
  to?: string | undefined;
};

export async function listAuditEntries(
  sql: Sql,
  workspaceId: string,
  filter: AuditFilter & PageRequest,
): Promise<Page<AuditEntry>> {
  const { rows } = await sql.query<AuditRow>(
    `SELECT * FROM audit_entries
      WHERE workspace_id = $1 AND ($2::int IS NULL OR seq < $2)
        AND ($3::text IS NULL OR action = $3) AND ($4::text IS NULL OR actor = $4) AND ($5::text IS NULL OR verdict = $5)
        AND ($6::timestamptz IS NULL OR created_at >= $6) AND ($7::timestamptz IS NULL OR created_at < $7)
      ORDER BY seq DESC LIMIT $8`,
    [
      workspaceId,
      seqCursor(filter),
      filter.action ?? null,
      filter.actor ?? null,
      filter.verdict ?? null,
      filter.from ?? null,
      filter.to ?? null,
      filter.limit + 1,
    ],
  );
  return pageOf(rows, filter, { item: auditEntryOf, key: (row) => String(row.seq) });
}

function seqCursor(request: PageRequest): number | null {
  const start = pageStart(request);
  return start === null || !/^\d+$/.test(start) || Number(start) > 2_147_483_647 ? null : Number(start);
}

function auditEntryOf(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    workspaceId: WorkspaceId.parse(row.workspace_id),
    seq: row.seq,
    action: row.action,
    actor: row.actor,
    verdict: AuditVerdictShape.parse(row.verdict),
    reason: row.reason,
    subject: row.subject,
    details: AuditEntryShape.shape.details.parse(JSON.parse(row.details)),
    requestId: row.request_id,
    createdAt: instant(row.created_at),
    prevHash: row.prev_hash === null ? null : Digest.parse(row.prev_hash),
    hash: Digest.parse(row.hash),
  };
}
