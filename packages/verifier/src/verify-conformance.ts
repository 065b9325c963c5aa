import {
  ConformanceFacts,
  ConformanceProof,
  ConformanceVector,
  sessionOfRun,
  tenantOfVector,
} from '@countersign/contracts/governance-kernel';
import type { ConformanceReport, VectorResult } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf, parsePlainJson } from '@countersign/crypto';
import { chosenVectors, conformanceVerdict, resultFault } from './conformance-rules.ts';
import { parseUntrusted } from './parse-untrusted.ts';
import { assertInWindow, assertNotAfter, assertNotRevoked, findKey } from './trusted-keys.ts';
import type { Sighting } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import { assertIncluded, verifyCheckpoint } from './verify-log.ts';
import type { LogTrust } from './verify-log.ts';
import { assertSignature, openReceipt } from './verify-receipt.ts';
import { assertRecordOf } from './verify-record.ts';

export type AskedConformance = LogTrust & {
  /** The hash of the vectors that the caller expects. Without it, those of the proof are used. */
  vectorsHash?: string | undefined;
};

export type VerifiedConformance = Pick<
  ConformanceReport,
  'report_id' | 'scope' | 'verdict' | 'passed' | 'failed' | 'skipped' | 'vectors_hash' | 'started_at' | 'ended_at'
> & { decisions: number; key_id: string; witnessed: string };

/**
 * Returns only if a trusted kernel signed and sealed the report, and its receipt is in the log of a checkpoint. The
 * report must be about exactly these vectors. Each result must follow from the reported observations. For a vector that
 * passed, the proof must also contain receipts and records that verify. `verdict` may still be FAIL. Throws {@link
 * VerificationError}: `MALFORMED`, `HASH_MISMATCH` (report, vectors), `VERDICT_MISMATCH` (a result that does not
 * follow), `LINK_MISMATCH` (another report, vector, run or tenant), `TIME_MISMATCH` (a receipt outside the run), and
 * what receipts, records, keys and checkpoints throw.
 */
export function verifyConformance(proof: unknown, expected: AskedConformance): VerifiedConformance {
  const shown = parseUntrusted(ConformanceProof, proof, 'conformance proof');
  const { report } = shown.signed;
  const vectors = vectorsOf(shown, expected);
  const { seen, key_id } = assertInLog(shown, expected);
  assertSigned(shown, { ...expected, seen });
  assertResults(report, vectors);
  const decisions = assertDecisions(shown, expected);
  const { report_id, scope, verdict, passed, failed, skipped, vectors_hash, started_at, ended_at } = report;
  const statement = { report_id, scope, verdict, passed, failed, skipped, vectors_hash, started_at, ended_at };
  return { ...statement, decisions, key_id, witnessed: seen.time };
}

/** The vectors of the proof, which must be those that the report states and the caller expects. */
function vectorsOf(
  { vectors, signed }: ConformanceProof,
  { provider, vectorsHash }: AskedConformance,
): ConformanceVector[] {
  const hash = digestOf(provider, canonicalBytes(parsePlainJson(vectors)));
  if (hash !== signed.report.vectors_hash)
    throw new VerificationError(
      'HASH_MISMATCH',
      'vectors_hash of the report is not the hash of the vectors in the proof',
    );
  if (vectorsHash !== undefined && hash !== vectorsHash)
    throw new VerificationError('HASH_MISMATCH', `the vectors have the hash ${hash}, which is not the expected hash`);
  return vectors.map((vector) => ConformanceVector.parse(vector)); // checked as a whole; this fills in its defaults
}

/** Asserts that the log has a conformance receipt whose record contains the hash of this report. */
function assertInLog({ signed, evidence }: ConformanceProof, expected: AskedConformance) {
  const { report, report_hash, receipt_id } = signed;
  const { receipt, inclusion } = evidence;
  const { trust, provider } = expected;
  const { payload, receipt_hash, key } = openReceipt(receipt, trust, provider);
  const checkpoint = verifyCheckpoint(inclusion.checkpoint.note, expected);
  assertIncluded({ receipt_hash, proof: inclusion, checkpoint, provider });
  assertNotRevoked(key, { claimed: payload.issued_at, seen: checkpoint });
  assertNotAfter(payload.issued_at, checkpoint);
  const record = assertRecordOf(payload, evidence.record, provider);
  const facts = parseUntrusted(ConformanceFacts, record.intent.facts, 'facts of the report');
  const { report_id, verdict, vectors_hash, ended_at, policy_hash } = report;
  const isOfReport =
    payload.kind === 'conformance' &&
    payload.tenant_id === 'system' &&
    payload.receipt_id === receipt_id &&
    payload.args_hash === report_hash &&
    payload.issued_at === ended_at &&
    payload.policy_hash === policy_hash &&
    inclusion.log_index >= report.tree_size;
  const isOfFacts =
    facts.report_hash === report_hash &&
    facts.report_id === report_id &&
    facts.verdict === verdict &&
    facts.vectors_hash === vectors_hash;
  if (!isOfReport || !isOfFacts)
    throw new VerificationError('LINK_MISMATCH', 'the receipt does not belong to this report');
  return { seen: checkpoint, key_id: key.key_id };
}

type Logged = AskedConformance & { seen: Sighting };

function assertSigned({ signed }: ConformanceProof, { trust, provider, seen }: Logged): void {
  const { report, report_hash, signature } = signed;
  const bytes = canonicalBytes(parsePlainJson(report));
  if (digestOf(provider, bytes) !== report_hash)
    throw new VerificationError('HASH_MISMATCH', 'report_hash is not the hash of the report');
  const key = findKey(trust, { keyId: signature.key_id, purpose: 'receipts' });
  assertInWindow(key, report.ended_at);
  assertNotRevoked(key, { claimed: report.ended_at, seen });
  assertSignature(key, { signed: bytes, signature }, provider);
}

/** Every chosen vector has a result in its place, each result follows from the observations, and the totals agree. */
function assertResults(report: ConformanceReport, vectors: readonly ConformanceVector[]): void {
  const { results, scope, verdict } = report;
  const chosen = chosenVectors(vectors, scope);
  if (new Set(vectors.map(({ id }) => id)).size !== vectors.length)
    throw new VerificationError('LINK_MISMATCH', 'two vectors have the same id');
  if (results.length !== chosen.length || results.some(({ vector_id }, at) => vector_id !== chosen[at]?.id))
    throw new VerificationError('LINK_MISMATCH', 'the results do not match the vectors');
  for (const [at, vector] of chosen.entries()) {
    const result = results[at];
    const fault = result === undefined ? 'it has no result' : resultFault(vector, result);
    if (fault !== null) throw new VerificationError('VERDICT_MISMATCH', `${vector.id}: ${fault}`);
  }
  const counted = (outcome: VectorResult['outcome']) => results.filter((result) => result.outcome === outcome).length;
  for (const outcome of ['passed', 'failed', 'skipped'] as const)
    if (report[outcome] !== counted(outcome))
      throw new VerificationError(
        'VERDICT_MISMATCH',
        `the report states ${report[outcome]} ${outcome}, which is not the number of such results`,
      );
  if (verdict !== conformanceVerdict(results))
    throw new VerificationError('VERDICT_MISMATCH', `${verdict} does not follow from the results`);
}

/**
 * The answer to each call of a passed vector is sealed in the tenant of its vector, in this run. No checkpoint proves
 * when these receipts were seen, so receipts of a revoked key prove nothing.
 */
function assertDecisions({ signed, decisions }: ConformanceProof, { trust, provider }: AskedConformance): number {
  const { report } = signed;
  if (report.started_at > report.ended_at)
    throw new VerificationError('TIME_MISMATCH', 'the run ended before it began');
  const byId = new Map(decisions.map((shown) => [shown.receipt.payload.receipt_id, shown]));
  const named = new Set<string>();
  for (const { vector_id, outcome, seen } of report.results) {
    for (const { receipt_id: id, verdict, reason_code } of outcome === 'passed' ? seen : []) {
      if (id === null) continue;
      named.add(id);
      const shown = byId.get(id);
      if (shown === undefined)
        throw new VerificationError('LINK_MISMATCH', `${vector_id}: the receipt ${id} is missing`);
      const { payload, key } = openReceipt(shown.receipt, trust, provider);
      assertNotRevoked(key, { claimed: payload.issued_at, seen: null });
      assertRecordOf(payload, shown.record, provider);
      const statements = [payload.kind, payload.verdict, payload.reason_code, payload.tenant_id, payload.session_id];
      const wanted = ['decision', verdict, reason_code, tenantOfVector(vector_id), sessionOfRun(report.report_id)];
      if (statements.join(' ') !== wanted.join(' '))
        throw new VerificationError(
          'LINK_MISMATCH',
          `the receipt ${id} states ${statements.join(' ')} instead of ${wanted.join(' ')}`,
        );
      if (payload.issued_at < report.started_at || payload.issued_at > report.ended_at)
        throw new VerificationError('TIME_MISMATCH', `the receipt ${id} was not sealed during the run`);
    }
  }
  if (named.size !== decisions.length)
    throw new VerificationError('LINK_MISMATCH', 'the proof has decisions that the report does not name');
  return named.size;
}
