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
  /** The hash of the vectors that the caller means; without it, those of the proof count. */
  vectorsHash?: string | undefined;
};

export type VerifiedConformance = Pick<
  ConformanceReport,
  'report_id' | 'scope' | 'verdict' | 'passed' | 'failed' | 'skipped' | 'vectors_hash' | 'started_at' | 'ended_at'
> & { decisions: number; key_id: string; witnessed: string };

/**
 * Returns only if a trusted kernel signed and sealed the report, its receipt is in the log of a checkpoint, and it is
 * about exactly these vectors. Each of its verdicts must follow from what was seen. For every vector that passed, it
 * must follow from receipts and records that are here and verify. `verdict` may still be FAIL: that is a true answer.
 * Throws {@link VerificationError}: `MALFORMED`, `HASH_MISMATCH` (report, vectors), `VERDICT_MISMATCH` (a result that
 * does not follow), `LINK_MISMATCH` (of another report, vector, run or tenant), and what receipts, records, keys and
 * checkpoints throw.
 */
export function verifyConformance(proof: unknown, asked: AskedConformance): VerifiedConformance {
  const shown = parseUntrusted(ConformanceProof, proof, 'conformance proof');
  const { report } = shown.signed;
  const vectors = vectorsOf(shown, asked);
  const { seen, key_id } = assertInLog(shown, asked);
  assertSigned(shown, { ...asked, seen });
  assertResults(report, vectors);
  const decisions = assertDecisions(shown, asked);
  const { report_id, scope, verdict, passed, failed, skipped, vectors_hash, started_at, ended_at } = report;
  const said = { report_id, scope, verdict, passed, failed, skipped, vectors_hash, started_at, ended_at };
  return { ...said, decisions, key_id, witnessed: seen.time };
}

/** The list that the report names, and that the caller means. */
function vectorsOf(
  { vectors, signed }: ConformanceProof,
  { provider, vectorsHash }: AskedConformance,
): ConformanceVector[] {
  const hash = digestOf(provider, canonicalBytes(parsePlainJson(vectors)));
  if (hash !== signed.report.vectors_hash)
    throw new VerificationError('HASH_MISMATCH', 'the report names other vectors than are here');
  if (vectorsHash !== undefined && hash !== vectorsHash)
    throw new VerificationError('HASH_MISMATCH', `other vectors were executed: ${hash}`);
  return vectors.map((vector) => ConformanceVector.parse(vector)); // checked as a whole; this fills in its defaults
}

/** A receipt of kind conformance in the log, whose record holds the hash of this very report. */
function assertInLog({ signed, evidence }: ConformanceProof, asked: AskedConformance) {
  const { report, report_hash, receipt_id } = signed;
  const { receipt, inclusion } = evidence;
  const { trust, provider } = asked;
  const { payload, receipt_hash, key } = openReceipt(receipt, trust, provider);
  const checkpoint = verifyCheckpoint(inclusion.checkpoint.note, asked);
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
  if (!isOfReport || !isOfFacts) throw new VerificationError('LINK_MISMATCH', 'the receipt is not that of this report');
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

/** Every chosen vector has a result in its place, each follows from what was seen, and the sums are theirs. */
function assertResults(report: ConformanceReport, vectors: readonly ConformanceVector[]): void {
  const { results, scope, verdict } = report;
  const chosen = chosenVectors(vectors, scope);
  if (new Set(vectors.map(({ id }) => id)).size !== vectors.length)
    throw new VerificationError('LINK_MISMATCH', 'two vectors share an id');
  if (results.length !== chosen.length || results.some(({ vector_id }, at) => vector_id !== chosen[at]?.id))
    throw new VerificationError('LINK_MISMATCH', 'the results are not those of the vectors');
  for (const [at, vector] of chosen.entries()) {
    const result = results[at];
    const fault = result === undefined ? 'it has no result' : resultFault(vector, result);
    if (fault !== null) throw new VerificationError('VERDICT_MISMATCH', `${vector.id}: ${fault}`);
  }
  const counted = (outcome: VectorResult['outcome']) => results.filter((result) => result.outcome === outcome).length;
  for (const outcome of ['passed', 'failed', 'skipped'] as const)
    if (report[outcome] !== counted(outcome))
      throw new VerificationError('VERDICT_MISMATCH', `the report does not have ${report[outcome]} ${outcome}`);
  if (verdict !== conformanceVerdict(results))
    throw new VerificationError('VERDICT_MISMATCH', `${verdict} does not follow from the results`);
}

/**
 * The answer to each call of a passed vector is sealed: in the tenant of its vector, in this run. No checkpoint tells
 * when these receipts were seen, so of a key that was revoked since nothing is proven.
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
        throw new VerificationError('LINK_MISMATCH', `${vector_id}: the receipt ${id} is not here`);
      const { payload, key } = openReceipt(shown.receipt, trust, provider);
      assertNotRevoked(key, { claimed: payload.issued_at, seen: null });
      assertRecordOf(payload, shown.record, provider);
      const said = [payload.kind, payload.verdict, payload.reason_code, payload.tenant_id, payload.session_id];
      const wanted = ['decision', verdict, reason_code, tenantOfVector(vector_id), sessionOfRun(report.report_id)];
      if (said.join(' ') !== wanted.join(' '))
        throw new VerificationError('LINK_MISMATCH', `${id} says ${said.join(' ')} instead of ${wanted.join(' ')}`);
      if (payload.issued_at < report.started_at || payload.issued_at > report.ended_at)
        throw new VerificationError('TIME_MISMATCH', `${id} was not sealed during the run`);
    }
  }
  if (named.size !== decisions.length)
    throw new VerificationError('LINK_MISMATCH', 'there are decisions here that the report does not name');
  return named.size;
}
