import { z } from 'zod';
import { evidenceAnswers } from '../evidence-answers.ts';
import { defineRoute } from '../route.ts';
import { Digest, Instant, SessionId, TenantId } from '../scalars.ts';

/** A session of some hundred calls. Use the command to verify a larger session offline. */
const exportBytesMax = 1_048_576;
/** In the JSON body, each quote and line feed of the export is escaped with a backslash. */
const bodyBytesMax = 2 * exportBytesMax;
const headsMax = 64;

const Count = z.int().min(0);
const Requirement = z.enum(['integrity', 'completeness', 'signer', 'time']);

/**
 * The verifier's report on an export: four results, and the verdict over the required results. `docs/verification.md`
 * describes each result.
 */
export const Verification = z.strictObject({
  /** The verdict over the required results. */
  verdict: z.enum(evidenceAnswers.verdict),
  integrity: z.enum(evidenceAnswers.integrity),
  completeness: z.enum(evidenceAnswers.completeness),
  signer: z.enum(evidenceAnswers.signer),
  /** Which party bounds the time of the receipts. */
  time: z.enum(evidenceAnswers.time),
  /** The first fault and its line. Lines count from 1, including the header. */
  fault: z.strictObject({ code: z.string(), line: Count }).nullable(),
  /** The reasons why completeness or time are not proven, as text. */
  missing: z.array(z.string()),
  receipts: Count,
  records: Count,
  proofs: Count,
  /** Approvals by one person alone although a quorum or a time lock was required. */
  broken_glass: Count,
  /** Uncertain outcomes that name an output. The kernel sealed them in this form, so they were not altered. */
  issuer_defects: Count,
  /** The ids of the keys that signed the export. */
  keys: z.array(z.string()),
});
export type Verification = z.infer<typeof Verification>;

export const checkExport = defineRoute({
  operation: 'check-export',
  summary:
    "Verify the export of a session or a period with this installation's public keys, as `countersign-verify` " +
    'does offline. Nothing is stored.',
  method: 'POST',
  path: '/api/v1/verify',
  auth: 'public',
  forward: { limit: 'verify' },
  idempotency: { exempt: 'reads' },
  bodyBytesMax,
  body: z.strictObject({
    /** The exported lines, unchanged. */
    export: z.string().min(1).max(exportBytesMax),
    /** The expected properties. Omitted ones are not checked. */
    expect: z
      .strictObject({
        tenant: TenantId.optional(),
        session: SessionId.optional(),
        from: Instant.optional(),
        to: Instant.optional(),
        /** Each of these receipts must be the last of its chain. */
        heads: z.array(Digest).max(headsMax).optional(),
        /** The export may be a part of a session, so it may begin late and end early. */
        partial: z.boolean().optional(),
        /** The results that VERIFIED requires; all of them by default. */
        require: z.array(Requirement).min(1).max(Requirement.options.length).optional(),
      })
      .optional(),
  }),
  reply: Verification,
  errors: ['RATE_LIMITED', 'GOVERNANCE_UNAVAILABLE'],
});
