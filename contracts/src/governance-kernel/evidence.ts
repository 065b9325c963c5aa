import { z } from 'zod';
import { AssertionRole } from '../assertion.ts';
import { evidenceAnswers } from '../evidence-answers.ts';
import { defineRoute } from '../route.ts';
import { ReasonCode } from '../reason-codes.ts';
import { Digest, Instant, ReceiptId, SessionId, TenantId, Verdict } from '../scalars.ts';
import { EvidenceScope, PackCounts, PackLine, packSessionsMax } from './evidence-pack.ts';
import { TrustKey } from './log.ts';
import { bundleBytesMax } from './policy-bundle.ts';

/** The scope of an export. Without a member it is everything that the log has of the tenant. */
const EvidenceRequest = z
  .strictObject({
    /** All receipts of these sessions. */
    sessions: z.array(SessionId).min(1).max(packSessionsMax).optional(),
    /** A range of the log. Without `to` it ends behind the last receipt of the tenant. */
    leaves: z.strictObject({ from: z.int().min(0), to: z.int().min(0).optional() }).optional(),
    /** Receipts that were issued then. `to` is over a minute ago. */
    issued: z.strictObject({ from: Instant, to: Instant }).optional(),
  })
  .superRefine(({ sessions, leaves, issued }, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if ([sessions, leaves, issued].filter((scope) => scope !== undefined).length > 1)
      refuse([], 'name sessions, leaves or issued: one of them');
    if (sessions !== undefined && new Set(sessions).size < sessions.length) refuse(['sessions'], 'name each once');
    if (leaves?.to !== undefined && leaves.to < leaves.from) refuse(['leaves', 'to'], 'must not be less than from');
    // Instants have one length, so their order is that of their texts.
    if (issued !== undefined && issued.to <= issued.from) refuse(['issued', 'to'], 'must be later than from');
  });
export type EvidenceRequest = z.infer<typeof EvidenceRequest>;

export const exportEvidence = defineRoute({
  operation: 'export-evidence',
  summary:
    'An evidence pack: what countersign-verify checks offline. The same scope gives the same bytes. X-Gov-Evidence-Hash is the SHA-256 of the body.',
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
const headsMax = 64;
const keysMax = 1_024;
const Count = z.int().min(0);
const Requirement = z.enum(['integrity', 'completeness', 'signer', 'time']);
const Places = z.strictObject({ count: Count, first: z.string().nullable() });

/** A key that the report rests on. */
export const ReportedKey = z.strictObject({
  key_id: z.string(),
  purpose: z.string(),
  /** The receipts, policies and checkpoints that it signed here. */
  signed: Count,
});
export type ReportedKey = z.infer<typeof ReportedKey>;

/** The log, as its checkpoints in the pack state it. */
export const ReportedLog = z.strictObject({
  origin: z.string(),
  checkpoints: z.array(z.strictObject({ size: Count, time: z.string() })),
});
export type ReportedLog = z.infer<typeof ReportedLog>;

/** The scope, the counts up to the first fault, and the counts of the end statement. `stated` is `null` without a statement. */
export const ReportedPack = z.strictObject({
  scope: EvidenceScope,
  counts: PackCounts.omit({ lines_hash: true, sessions_root: true }),
  stated: z.strictObject({ receipts: Count, log_size: Count, statement_index: Count }).nullable(),
});
export type ReportedPack = z.infer<typeof ReportedPack>;

/** The report of the verifier: the same in the command, the browser and this route. */
export const EvidenceReport = z.strictObject({
  verdict: z.enum(evidenceAnswers.verdict),
  integrity: z.enum(evidenceAnswers.integrity),
  completeness: z.enum(evidenceAnswers.completeness),
  signer: z.enum(evidenceAnswers.signer),
  time: z.enum(evidenceAnswers.time),
  /** The first fault. Lines count from 1. */
  fault: z
    .strictObject({ code: z.string(), message: z.string(), line: Count, receipt_id: z.string().nullable() })
    .nullable(),
  missing: z.array(z.string()),
  /** In words: no receipt of it can show this. */
  limits: z.array(z.string()),
  receipts: Count,
  records: Count,
  proofs: Count,
  heads: Count,
  broken_glass: Places,
  issuer_defects: Places,
  keys: z.array(z.string()),
  signers: z.array(ReportedKey),
  log: ReportedLog.nullable(),
  issued: z
    .strictObject({
      first: z.string(),
      last: z.string(),
      logged_after: z.string().nullable(),
      logged_by: z.string().nullable(),
    })
    .nullable(),
  chains: z.array(z.record(z.string(), z.unknown())),
  period: z.record(z.string(), z.unknown()).nullable(),
  pack: ReportedPack.nullable(),
});
export type EvidenceReport = z.infer<typeof EvidenceReport>;

/** The keys and the subject that evidence is verified with. */
const Expected = z.strictObject({
  tenant: TenantId.optional(),
  session: SessionId.optional(),
  from: Instant.optional(),
  to: Instant.optional(),
  origin: z.string().max(255).optional(),
  /** A chain ends with each of these receipts. */
  heads: z.array(Digest).max(headsMax).optional(),
  /** Each of these receipts is in the evidence. */
  contains: z.array(Digest).max(headsMax).optional(),
  partial: z.boolean().optional(),
  require: z.array(Requirement).min(1).max(Requirement.options.length).optional(),
});

export const verifyEvidence = defineRoute({
  operation: 'verify-evidence',
  summary:
    'The report of countersign-verify about an evidence pack or an earlier export. Without `keys` it uses the keys that this kernel publishes.',
  method: 'POST',
  path: '/api/v1/evidence/verify',
  auth: 'public',
  forward: { opensTo: 'member', right: 'evidence.read' },
  idempotency: { exempt: 'reads' },
  // JSON escapes quotes and line feeds of the pack.
  bodyBytesMax: 2 * evidenceTextMax,
  body: z.strictObject({
    /** The lines, unchanged. */
    evidence: z.string().min(1).max(evidenceTextMax),
    /** The keys that the caller trusts. */
    keys: z.array(TrustKey).min(1).max(keysMax).optional(),
    expect: Expected.optional(),
  }),
  reply: EvidenceReport,
  errors: ['RATE_LIMITED', 'RECEIPT_STORE_UNAVAILABLE'],
});

const Decided = z.strictObject({ verdict: Verdict, reason_code: ReasonCode });

/** One decision, as it was recorded and as it is now. */
export const ReplayedReceipt = z.strictObject({
  receipt_id: ReceiptId,
  outcome: z.enum(['MATCH', 'DIVERGED', 'UNREPLAYABLE']),
  recorded: Decided,
  /** `null` for what cannot be replayed. */
  replayed: Decided.nullable(),
  /** The members that the record lacks for a replay. */
  missing: z.array(z.string()),
});
export type ReplayedReceipt = z.infer<typeof ReplayedReceipt>;

export const PackReplayReport = z.strictObject({
  evidence: z.strictObject({
    verdict: z.enum(evidenceAnswers.verdict),
    fault: z.strictObject({ code: z.string(), line: Count }).nullable(),
  }),
  /** The policies of the decisions, or the policy of the request. */
  policy: z.enum(['recorded', 'given']),
  decisions: Count,
  match: Count,
  diverged: Count,
  unreplayable: Count,
  /** In the order of the log. */
  first_divergence: ReplayedReceipt.nullable(),
  /** Each decision, up to the first line that does not verify. */
  results: z.array(ReplayedReceipt),
});
export type PackReplayReport = z.infer<typeof PackReplayReport>;

export const verifyReplay = defineRoute({
  operation: 'verify-replay',
  summary:
    'Verify an evidence pack and make each of its decisions again: under the policies that it contains, or under one policy of the request.',
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
