import { z } from 'zod';
import { Digest, Instant, PlainObject } from './scalars.ts';

export const AuditVerdict = z.enum(['allow', 'deny', 'escalate', 'fail']);
export type AuditVerdict = z.infer<typeof AuditVerdict>;

/**
 * The members of audit entries in all services. Each service adds the owner of its chain, and uses its own naming
 * style.
 */
export const auditMembers = {
  id: z.string(),
  /** From 1 without a gap. */
  seq: z.int().min(1),
  action: z.string(),
  verdict: AuditVerdict,
  reason: z.string(),
  subject: z.string().nullable(),
  details: PlainObject,
  requestId: z.string().nullable(),
  createdAt: Instant,
  /** The hash of the previous entry. `null` for the first entry. */
  prevHash: Digest.nullable(),
  /** SHA-256 over the canonical JSON (RFC 8785) of all other members. */
  hash: Digest,
};

/** The last line of an export: the end of the chain at the time of the export. */
export const AuditExportEnd = z.strictObject({
  /** The position and the hash of the last entry. 0 and `null` for a chain without entries. */
  end: z.strictObject({ seq: z.int().min(0), hash: Digest.nullable() }),
});
export type AuditExportEnd = z.infer<typeof AuditExportEnd>;

/** The most entries of one page, when a service reads the chain of a workspace from another service. */
const auditPageMax = 500;

/** Part of a chain: the entries from the position `from`, oldest first. */
export const AuditPageQuery = z.strictObject({
  from: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).max(auditPageMax).default(auditPageMax),
});
