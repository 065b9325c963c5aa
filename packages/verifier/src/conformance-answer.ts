import { parseStrictJson } from '@countersign/crypto';
import { isUndecidable } from './export-report.ts';
import { forTerminal } from './for-terminal.ts';
import { faultOf } from './verification-error.ts';
import type { VerificationErrorCode } from './verification-error.ts';
import { verifyConformance } from './verify-conformance.ts';
import type { AskedConformance, VerifiedConformance } from './verify-conformance.ts';

/** Whether the proof verifies, and what it proves, since a verified report may state FAIL. */
type ConformanceAnswer = {
  verdict: 'VERIFIED' | 'NOT_VERIFIED' | 'UNDECIDABLE';
  fault: { code: VerificationErrorCode; message: string } | null;
  conformance: VerifiedConformance | null;
};

/**
 * The limits of a proof: more than ten times the size of current proofs. A schema keeps an issue in memory for each
 * wrong value.
 */
export const proofLimits = { bytesMax: 67_108_864, depthMax: 64, valuesMax: 250_000 };

/** Never throws for any proof. */
export function conformanceAnswer(proof: unknown, expected: AskedConformance): ConformanceAnswer {
  return answerOf(() => verifyConformance(proof, expected));
}

/** Like `conformanceAnswer`, for the text of a file. */
export function conformanceAnswerOfText(text: Uint8Array, expected: AskedConformance): ConformanceAnswer {
  return answerOf(() => verifyConformance(parseStrictJson(text, proofLimits), expected));
}

function answerOf(verified: () => VerifiedConformance): ConformanceAnswer {
  try {
    return { verdict: 'VERIFIED', fault: null, conformance: verified() };
  } catch (error) {
    const fault = faultOf(error);
    return { verdict: isUndecidable(fault.code) ? 'UNDECIDABLE' : 'NOT_VERIFIED', fault, conformance: null };
  }
}

/**
 * 0: the proof verifies with the verdict PASS. 1: it does not verify, or its verdict is FAIL. 4: a key is unknown, or
 * the proof is too large.
 */
export function conformanceStatus({ verdict, conformance }: ConformanceAnswer): 0 | 1 | 4 {
  if (verdict === 'UNDECIDABLE') return 4;
  return conformance?.verdict === 'PASS' ? 0 : 1;
}

/** Each line is safe to print. */
export function describeConformance({ verdict, fault, conformance }: ConformanceAnswer): string {
  const lines = conformance === null ? [`${verdict}: ${fault?.code}: ${fault?.message}`] : provenLines(conformance);
  return lines.map((line) => `${forTerminal(line)}\n`).join('');
}

function provenLines(proven: VerifiedConformance): string[] {
  const { verdict, scope, passed, failed, skipped } = proven;
  return [
    `VERIFIED: ${verdict}, ${scope} run: ${passed} passed, ${failed} failed, ${skipped} skipped`,
    `  report        ${proven.report_id}, ${proven.started_at} to ${proven.ended_at}`,
    `  vectors       ${proven.vectors_hash}`,
    `  decisions     ${proven.decisions}, each with its receipt and record`,
    `  signer        ${proven.key_id}`,
    `  time          seen by the log at ${proven.witnessed}`,
  ];
}
