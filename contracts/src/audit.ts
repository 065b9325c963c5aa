import { z } from 'zod';
import { Digest, Instant, PlainObject } from './scalars.ts';

export const AuditVerdict = z.enum(['allow', 'deny', 'escalate', 'fail']);
export type AuditVerdict = z.infer<typeof AuditVerdict>;

/**
 * The members of every service's audit entries. Each service adds whose chain it is, and writes the names as its wire
 * does.
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
  /** The hash of the entry before it; null for the first. */
  prevHash: Digest.nullable(),
  /** SHA-256 over the canonical JSON (RFC 8785) of all other members. */
  hash: Digest,
};

/** Last line of an export: where the chain ended then. Zero and null before the first entry. */
export const AuditExportEnd = z.strictObject({
  end: z.strictObject({ seq: z.int().min(0), hash: Digest.nullable() }),
});
export type AuditExportEnd = z.infer<typeof AuditExportEnd>;
