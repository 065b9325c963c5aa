import { parseStrictJson } from '@countersign/crypto';
import { isUndecidable } from './export-report.ts';
import { forTerminal } from './for-terminal.ts';
import { faultOf } from './verification-error.ts';
import type { VerificationErrorCode } from './verification-error.ts';
import { verifyConformance } from './verify-conformance.ts';
import type { AskedConformance, VerifiedConformance } from './verify-conformance.ts';

/** Whether the proof holds, and then what it proves: a report that verifies may say FAIL. */
type ConformanceAnswer = {
  verdict: 'VERIFIED' | 'NOT_VERIFIED' | 'UNDECIDABLE';
  fault: { code: VerificationErrorCode; message: string } | null;
  conformance: VerifiedConformance | null;
};

/** More than ten times what the vectors of today leave. A schema keeps an issue for each value that is wrong. */
export const proofLimits = { bytesMax: 67_108_864, depthMax: 64, valuesMax: 250_000 };

/** Never throws for what a proof holds. */
export function conformanceAnswer(proof: unknown, asked: AskedConformance): ConformanceAnswer {
  return answerOf(() => verifyConformance(proof, asked));
}

/** The same for an unread file. */
export function conformanceAnswerOfText(text: Uint8Array, asked: AskedConformance): ConformanceAnswer {
  return answerOf(() => verifyConformance(parseStrictJson(text, proofLimits), asked));
}

function answerOf(verified: () => VerifiedConformance): ConformanceAnswer {
  try {
    return { verdict: 'VERIFIED', fault: null, conformance: verified() };
  } catch (error) {
    const fault = faultOf(error);
    return { verdict: isUndecidable(fault.code) ? 'UNDECIDABLE' : 'NOT_VERIFIED', fault, conformance: null };
  }
}

/** 0: it is proven that the kernel denied what it must. 1: it is not, or it did not. 4: a key is unknown, or it is too large. */
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
