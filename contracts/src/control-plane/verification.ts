import { z } from 'zod';
import { evidenceAnswers } from '../evidence-answers.ts';
import { defineRoute } from '../route.ts';
import { Digest, Instant, SessionId, TenantId } from '../scalars.ts';

/** A session of some hundred calls. Use the command to verify a larger session offline. */
const exportBytesMax = 1_048_576;
/** In the body each quote and line feed of the export has a backslash before it. */
const bodyBytesMax = 2 * exportBytesMax;
const headsMax = 64;

const Count = z.int().min(0);
const Requirement = z.enum(['integrity', 'completeness', 'signer', 'time']);

/**
 * The verifier's report on an export: four results, and the verdict that sums up the required ones.
 * `docs/verification.md` tells what each means.
 */
export const Verification = z.strictObject({
  verdict: z.enum(evidenceAnswers.verdict),
  integrity: z.enum(evidenceAnswers.integrity),
  completeness: z.enum(evidenceAnswers.completeness),
  signer: z.enum(evidenceAnswers.signer),
  time: z.enum(evidenceAnswers.time),
  /** The first thing that does not hold, and in which line: they count from 1, the header included. */
  fault: z.strictObject({ code: z.string(), line: Count }).nullable(),
  /** The reasons why completeness or time are not proven, in words. */
  missing: z.array(z.string()),
  receipts: Count,
  records: Count,
  proofs: Count,
  /** Approvals that one person gave alone, in spite of a quorum or a time lock. */
  broken_glass: Count,
  /** Uncertain outcomes that name an output. Their kernel sealed them in this form, so they were not altered. */
  issuer_defects: Count,
  /** Which keys signed it. */
  keys: z.array(z.string()),
});
export type Verification = z.infer<typeof Verification>;

export const checkExport = defineRoute({
  operation: 'check-export',
  summary:
    'Verify the export of a session or of a period with the keys that this installation publishes, as `countersign-verify` does offline. Nothing of it is kept.',
  method: 'POST',
  path: '/api/v1/verify',
  auth: 'public',
  forward: { limit: 'verify' },
  idempotency: { exempt: 'reads' },
  bodyBytesMax,
  body: z.strictObject({
    /** The lines as they were exported. */
    export: z.string().min(1).max(exportBytesMax),
    /** The expected properties; those that are left out are not checked. */
    expect: z
      .strictObject({
        tenant: TenantId.optional(),
        session: SessionId.optional(),
        from: Instant.optional(),
        to: Instant.optional(),
        /** A chain has to end with each of these receipts. */
        heads: z.array(Digest).max(headsMax).optional(),
        /** It is a part of a session: it may begin late and end early. */
        partial: z.boolean().optional(),
        /** The results that VERIFIED requires; all of them by default. */
        require: z.array(Requirement).min(1).max(Requirement.options.length).optional(),
      })
      .optional(),
  }),
  reply: Verification,
  errors: ['RATE_LIMITED', 'GOVERNANCE_UNAVAILABLE'],
});
