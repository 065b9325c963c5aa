import { z } from 'zod';
import { AuditExportEnd, auditMembers, AuditPageQuery, AuditVerdict } from '../audit.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Instant, storableText, UserId, WorkspaceId } from '../scalars.ts';
import { OfWorkspace } from './workspace-path.ts';

/** The owner of the chain of an entry: the workspace that the entry concerns, or the person who signed in. */
export const AuditScope = z.union([WorkspaceId, UserId]);
export type AuditScope = z.infer<typeof AuditScope>;

const { requestId, createdAt, prevHash, ...members } = auditMembers;

/** The actor of an entry without a proven identity. */
export const anonymousActor = 'anonymous';
/** The actor of an entry about an event that the control plane saw by itself, without a request. */
export const ownActor = 'control-plane';

/** `hash` = SHA-256 over the canonical JSON (RFC 8785) of all other members; `prev_hash` is the hash of `seq` - 1. */
export const ScopedAuditEntry = z.strictObject({
  ...members,
  scope: AuditScope,
  /** A user id, `anonymous` for a caller without a proven identity, or `control-plane` for the service itself. */
  actor: z.string(),
  request_id: requestId,
  created_at: createdAt,
  prev_hash: prevHash,
});
export type ScopedAuditEntry = z.infer<typeof ScopedAuditEntry>;

const OfScope = {
  /**
   * The workspace whose log is read, for its partners and owners. If it is left out, the log of the caller's sign-ins
   * is read.
   */
  workspace_id: OfWorkspace.shape.id.optional(),
};

export const listAuditEntries = defineRoute({
  operation: 'list-audit-entries',
  summary: "List the hash-chained audit log of a workspace or of the person's sign-ins, newest first.",
  method: 'GET',
  path: '/api/audit/entries',
  auth: 'session',
  forward: {},
  query: z.strictObject({
    ...OfScope,
    action: storableText({ max: 128 }).optional(),
    actor: storableText({ max: 256 }).optional(),
    verdict: AuditVerdict.optional(),
    /** The start of the period, inclusive. */
    from: Instant.optional(),
    /** The end of the period, exclusive. */
    to: Instant.optional(),
    ...PageQuery,
  }),
  reply: page(ScopedAuditEntry),
  errors: ['NOT_FOUND', 'GATEWAY_UNAVAILABLE'],
});

/** First line of an export; the entries follow, oldest first, and then an AuditExportEnd. */
export const ScopedAuditHeader = z.strictObject({
  format: z.literal('countersign/audit-export.v2'),
  scope: AuditScope,
  exported_at: Instant,
});

export const exportAuditEntries = defineRoute({
  operation: 'export-audit-entries',
  summary:
    "Export the audit log of a workspace or of the person's sign-ins as JSON lines, oldest first. " +
    '`countersign-verify --audit` verifies it offline.',
  method: 'GET',
  path: '/api/audit/entries/export',
  auth: 'session',
  forward: { answer: 'stream' },
  query: z.strictObject(OfScope),
  media: 'json-lines',
  reply: z.unknown(),
  errors: ['NOT_FOUND', 'GATEWAY_UNAVAILABLE'],
});

export const readScopedAuditChain = defineRoute({
  operation: 'read-scoped-audit-chain',
  summary: "List the control plane's audit chain of a workspace for compliance reports, oldest first, with its end.",
  method: 'GET',
  path: '/internal/audit-chains/{workspace_id}',
  auth: 'service_internal',
  params: z.strictObject({ workspace_id: WorkspaceId }),
  query: AuditPageQuery,
  reply: z.strictObject({ ...AuditExportEnd.shape, data: z.array(ScopedAuditEntry) }),
});
