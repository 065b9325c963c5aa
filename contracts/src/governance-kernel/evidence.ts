import { z } from 'zod';
import { AssertionRole } from '../assertion.ts';
import { evidenceAnswers } from '../evidence-answers.ts';
import { defineRoute } from '../route.ts';
import { ReasonCode } from '../reason-codes.ts';
import { Digest, Instant, ReceiptId, SessionId, TenantId, Verdict } from '../scalars.ts';
import { EvidenceScope, PackCounts, PackLine, packSessionsMax } from './evidence-pack.ts';
import { TrustKey } from './log.ts';
import { bundleBytesMax } from './policy-bundle.ts';

/** The scope of an export. Without members, it is all receipts of the tenant in the log. */
const EvidenceRequest = z
  .strictObject({
    /** All receipts of these sessions. */
    sessions: z.array(SessionId).min(1).max(packSessionsMax).optional(),
    /** A range of the log. Without `to`, it ends after the last receipt of the tenant. */
    leaves: z.strictObject({ from: z.int().min(0), to: z.int().min(0).optional() }).optional(),
    /** Receipts that were issued in this period. `to` must be more than a minute ago. */
    issued: z.strictObject({ from: Instant, to: Instant }).optional(),
  })
  .superRefine(({ sessions, leaves, issued }, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if ([sessions, leaves, issued].filter((scope) => scope !== undefined).length > 1)
      refuse([], 'must have only one of sessions, leaves and issued');
    if (sessions !== undefined && new Set(sessions).size < sessions.length)
      refuse(['sessions'], 'must name each session once');
    if (leaves?.to !== undefined && leaves.to < leaves.from) refuse(['leaves', 'to'], 'must not be less than from');
    // Instants have one length, so their order is that of their texts.
    if (issued !== undefined && issued.to <= issued.from) refuse(['issued', 'to'], 'must be later than from');
  });
export type EvidenceRequest = z.infer<typeof EvidenceRequest>;

export const exportEvidence = defineRoute({
  operation: 'export-evidence',
  summary:
    'Export an evidence pack that countersign-verify verifies offline. The same scope returns the same bytes. ' +
    'X-Gov-Evidence-Hash is the SHA-256 of the body.',
  method: 'POST',
  path: '/api/v1/evidence/export',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read', answer: 'stream' },
  assertedBy: AssertionRole.options,
  idempotency: { exempt: 'repeatable' },
  query: z.strictObject({ tenant_id: z.string().optional() }),
  body: EvidenceRequest,
  reply: z.array(PackLine),
  media: 'json-lines',
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});

/** Some hundreds of receipts. Larger packs are verified offline. */
export const evidenceTextMax = 2_097_152;
/** The 512 lines of a tlog-policy, each with a key and an address. */
export const witnessPolicyMax = 131_072;
const headsMax = 64;
const keysMax = 1_024;
const Count = z.int().min(0);
const Requirement = z.enum(['integrity', 'completeness', 'signer', 'time']);
const Places = z.strictObject({
  count: Count,
  /** The id of the first receipt. `null` when there is none. */
  first: z.string().nullable(),
});

/** A key with which the evidence was verified. */
export const ReportedKey = z.strictObject({
  key_id: z.string(),
  purpose: z.string(),
  /** The number of receipts, policies and checkpoints in the evidence that it signed. */
  signed: Count,
});
export type ReportedKey = z.infer<typeof ReportedKey>;

/** The log, as its checkpoints in the pack state it. */
export const ReportedLog = z.strictObject({
  origin: z.string(),
  checkpoints: z.array(z.strictObject({ size: Count, time: z.string() })),
});
export type ReportedLog = z.infer<typeof ReportedLog>;

/**
 * The scope, the counts up to the first fault, and the counts of the end statement. `stated` is `null` without a
 * statement.
 */
export const ReportedPack = z.strictObject({
  scope: EvidenceScope,
  counts: PackCounts.omit({ lines_hash: true, sessions_root: true }),
  stated: z.strictObject({ receipts: Count, log_size: Count, statement_index: Count }).nullable(),
});
export type ReportedPack = z.infer<typeof ReportedPack>;

/** The report of the verifier: the same in the command, the browser and this route. */
export const EvidenceReport = z.strictObject({
  /** The verdict over the required results. */
  verdict: z.enum(evidenceAnswers.verdict),
  integrity: z.enum(evidenceAnswers.integrity),
  completeness: z.enum(evidenceAnswers.completeness),
  signer: z.enum(evidenceAnswers.signer),
  /** Which party bounds the time of the receipts. */
  time: z.enum(evidenceAnswers.time),
  /** The first fault. Lines count from 1. */
  fault: z
    .strictObject({ code: z.string(), message: z.string(), line: Count, receipt_id: z.string().nullable() })
    .nullable(),
  /** The missing or unproven parts, as text. */
  missing: z.array(z.string()),
  /** Facts that this evidence cannot prove, as text. */
  limits: z.array(z.string()),
  receipts: Count,
  records: Count,
  proofs: Count,
  /** How many statements about the end of a session were read. */
  heads: Count,
  broken_glass: Places,
  issuer_defects: Places,
  keys: z.array(z.string()),
  signers: z.array(ReportedKey),
  log: ReportedLog.nullable(),
  issued: z
    .strictObject({
      /** The earliest issue time of a receipt. */
      first: z.string(),
      /** The latest issue time of a receipt. */
      last: z.string(),
      logged_after: z.string().nullable(),
      logged_by: z.string().nullable(),
    })
    .nullable(),
  /** Set when the time is `WITNESSED`. `after` is `null` without an earlier cosignature. */
  witnessed: z
    .strictObject({
      after: z.string().nullable(),
      /** The time by which witnesses had cosigned a tree with all receipts. */
      by: z.string(),
    })
    .nullable(),
  chains: z.array(z.record(z.string(), z.unknown())),
  period: z.record(z.string(), z.unknown()).nullable(),
  pack: ReportedPack.nullable(),
});
export type EvidenceReport = z.infer<typeof EvidenceReport>;

/** The keys and the subject for the verification of evidence. */
const Expected = z.strictObject({
  tenant: TenantId.optional(),
  session: SessionId.optional(),
  from: Instant.optional(),
  to: Instant.optional(),
  origin: z.string().max(255).optional(),
  /** Each of these receipts must be the last of its chain. */
  heads: z.array(Digest).max(headsMax).optional(),
  /** The evidence must contain each of these receipts. */
  contains: z.array(Digest).max(headsMax).optional(),
  partial: z.boolean().optional(),
  require: z.array(Requirement).min(1).max(Requirement.options.length).optional(),
});

export const verifyEvidence = defineRoute({
  operation: 'verify-evidence',
  summary:
    'Verify an evidence pack or an earlier export with countersign-verify. Without `keys`, the public keys of ' +
    'this kernel are used.',
  method: 'POST',
  path: '/api/v1/evidence/verify',
  auth: 'public',
  forward: { opensTo: 'member', right: 'evidence.read' },
  idempotency: { exempt: 'reads' },
  // The body can be twice as long as the pack, because JSON escapes its quotes and line feeds.
  bodyBytesMax: 2 * evidenceTextMax,
  body: z.strictObject({
    /** The lines of the pack or export, unchanged. */
    evidence: z.string().min(1).max(evidenceTextMax),
    /** The keys that the caller trusts. */
    keys: z.array(TrustKey).min(1).max(keysMax).optional(),
    expect: Expected.optional(),
    /**
     * The witnesses that the caller trusts, as a C2SP tlog-policy. The time is `WITNESSED` only if their cosignatures in
     * the evidence satisfy it, and the evidence is incomplete otherwise.
     */
    witness_policy: z.string().min(1).max(witnessPolicyMax).optional(),
  }),
  reply: EvidenceReport,
  errors: ['INVALID_REQUEST', 'RATE_LIMITED', 'RECEIPT_STORE_UNAVAILABLE'],
});

const Decided = z.strictObject({ verdict: Verdict, reason_code: ReasonCode });

/** One decision, as recorded and as replayed. */
export const ReplayedReceipt = z.strictObject({
  receipt_id: ReceiptId,
  outcome: z.enum(['MATCH', 'DIVERGED', 'UNREPLAYABLE']),
  recorded: Decided,
  /** `null` when the decision cannot be replayed. */
  replayed: Decided.nullable(),
  /** The members that a replay needs and the record lacks. */
  missing: z.array(z.string()),
});
export type ReplayedReceipt = z.infer<typeof ReplayedReceipt>;

export const PackReplayReport = z.strictObject({
  evidence: z.strictObject({
    /** The verdict over the required results. */
    verdict: z.enum(evidenceAnswers.verdict),
    fault: z.strictObject({ code: z.string(), line: Count }).nullable(),
  }),
  /**
   * Under which policy the decisions were replayed. `recorded`: each under its own policy from the pack. `given`: all
   * under the policy of the request.
   */
  policy: z.enum(['recorded', 'given']),
  decisions: Count,
  /** How many decisions have the same verdict in the replay as in the record. */
  match: Count,
  diverged: Count,
  unreplayable: Count,
  /** The first decision, in the order of the log, that has another verdict in the replay. `null` when there is none. */
  first_divergence: ReplayedReceipt.nullable(),
  /** The replayed decisions, up to the first line that does not verify. */
  results: z.array(ReplayedReceipt),
});
export type PackReplayReport = z.infer<typeof PackReplayReport>;

export const verifyReplay = defineRoute({
  operation: 'verify-replay',
  summary:
    'Verify an evidence pack and replay its decisions, under the policies in the pack or one policy in the request.',
  method: 'POST',
  path: '/api/v1/replay/verify',
  auth: 'public',
  forward: { opensTo: 'member', right: 'evidence.read' },
  idempotency: { exempt: 'reads' },
  bodyBytesMax: 2 * evidenceTextMax,
  body: z.strictObject({
    /** The lines of a pack, unchanged. */
    evidence: z.string().min(1).max(evidenceTextMax),
    /** The keys that the caller trusts. */
    keys: z.array(TrustKey).min(1).max(keysMax).optional(),
    expect: Expected.optional(),
    /** YAML or JSON of a bundle. */
    policy: z.string().min(1).max(bundleBytesMax).optional(),
  }),
  reply: PackReplayReport,
  errors: ['RATE_LIMITED', 'RECEIPT_STORE_UNAVAILABLE'],
});
