import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import { ConformanceReportId, Digest, Instant, ReceiptId, Verdict } from '../scalars.ts';
import { BoundaryRecord } from './boundary-record.ts';
import { ConformanceVector, VectorId, VectorList } from './conformance-vectors.ts';
import { InclusionProof } from './log.ts';
import { Signature, StoredReceipt } from './receipt.ts';

/** `short` leaves out the calls of the running kernel over HTTP, except one that must be denied. */
export const ConformanceScope = z.enum(['full', 'short']);
export type ConformanceScope = z.infer<typeof ConformanceScope>;

/** The answer to one step of a vector. */
const Seen = z.strictObject({
  step: z.int().min(0),
  status: z.int().nullable(),
  verdict: Verdict.nullable(),
  reason_code: ReasonCode.nullable(),
  receipt_id: ReceiptId.nullable(),
});

export const VectorResult = z.strictObject({
  vector_id: VectorId,
  surface: z.enum(['live', 'in_process']),
  outcome: z.enum(['passed', 'failed', 'skipped']),
  /** The fault, or the reason for the skip. */
  detail: z.string().max(1024).nullable(),
  seen: z.array(Seen),
  duration_ms: z.int().min(0),
});
export type VectorResult = z.infer<typeof VectorResult>;

export const ConformanceReport = z.strictObject({
  type: z.literal('countersign.conformance-report.v1'),
  report_id: ConformanceReportId,
  scope: ConformanceScope,
  /** PASS: no vector failed, and at least one of each surface was executed. */
  verdict: z.enum(['PASS', 'FAIL']),
  passed: z.int().min(0),
  failed: z.int().min(0),
  skipped: z.int().min(0),
  results: z.array(VectorResult),
  vectors_hash: Digest,
  gate_roster_hash: Digest,
  /** The default bundle of tenants without a bundle of their own. `null` when there was none. */
  policy_hash: Digest.nullable(),
  build: z.strictObject({ version: z.string(), commit: z.string() }),
  /** Receipts in the newest checkpoint when the run ended. */
  tree_size: z.int().min(0),
  started_at: Instant,
  ended_at: Instant,
});
export type ConformanceReport = z.infer<typeof ConformanceReport>;

/** A report with its proof: the kernel's signature over its canonical JSON, and the receipt that contains its hash. */
export const SignedConformanceReport = z.strictObject({
  report: ConformanceReport,
  /** SHA-256 of the canonical JSON of `report`. */
  report_hash: Digest,
  signature: Signature,
  receipt_id: ReceiptId,
});
export type SignedConformanceReport = z.infer<typeof SignedConformanceReport>;

/** The facts in the record behind a receipt of kind `conformance`. */
export const ConformanceFacts = z.strictObject({
  report_hash: Digest,
  report_id: ConformanceReportId,
  verdict: ConformanceReport.shape.verdict,
  vectors_hash: Digest,
});

const Evidence = { receipt: StoredReceipt, record: BoundaryRecord };

/**
 * Everything that is needed to verify a report without the kernel: the vectors, the observed answers, and the sealed
 * hashes.
 */
export const ConformanceProof = z.strictObject({
  format: z.literal('countersign/conformance-proof.v1'),
  signed: SignedConformanceReport,
  vectors: z.array(ConformanceVector),
  evidence: z.strictObject({ ...Evidence, inclusion: InclusionProof }),
  /** The answers to the calls of vectors that passed. */
  decisions: z.array(z.strictObject(Evidence)),
});
export type ConformanceProof = z.infer<typeof ConformanceProof>;

export const runConformance = defineRoute({
  operation: 'run-conformance',
  summary: 'Run the conformance vectors against this kernel in separate tenants, and sign the results.',
  method: 'POST',
  path: '/api/v1/conformance/run',
  auth: 'admin',
  idempotency: 'key',
  body: z.strictObject({ scope: ConformanceScope.default('full') }),
  reply: SignedConformanceReport,
  errors: ['ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const ReportSummary = ConformanceReport.omit({ results: true, type: true }).extend({
  report_hash: Digest,
  receipt_id: ReceiptId,
});

export const listConformanceReports = defineRoute({
  operation: 'list-conformance-reports',
  summary: 'List conformance reports without their results, newest first. The last 500 are kept.',
  method: 'GET',
  path: '/api/v1/conformance/reports',
  auth: 'admin',
  query: z.strictObject(PageQuery),
  reply: page(ReportSummary),
});

export const getConformanceReport = defineRoute({
  operation: 'get-conformance-report',
  summary: 'Get a conformance report with the result of each vector and its signature.',
  method: 'GET',
  path: '/api/v1/conformance/reports/{report_id}',
  auth: 'admin',
  params: z.strictObject({ report_id: ConformanceReportId }),
  reply: SignedConformanceReport,
  errors: ['NOT_FOUND'],
});

export const listConformanceVectors = defineRoute({
  operation: 'list-conformance-vectors',
  summary: 'List the vectors of a full conformance run.',
  method: 'GET',
  path: '/api/v1/conformance/vectors',
  auth: 'public',
  reply: VectorList,
});

export const listNegativeVectors = defineRoute({
  operation: 'list-negative-vectors',
  summary: 'List the conformance vectors that the kernel must reject.',
  method: 'GET',
  path: '/api/v1/conformance/negative',
  auth: 'public',
  reply: VectorList,
});
