import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Verification } from '@countersign/contracts/control-plane';
import { nodeProvider } from '@countersign/crypto/node';
import { ExportVerification, type TrustedKeys } from '@countersign/verifier';

/** So long goes one turn on, and then others have theirs. */
const turnMs = 5;
/** A turn ends behind a line, so no line may take long. A record has some hundred values; of two thousand, wrong ones take the longest: some ten milliseconds. */
const lineLengthMax = 262_144;
const lineValuesMax = 2_000;

type Expected = Omit<ConstructorParameters<typeof ExportVerification>[0], 'trust' | 'provider' | 'lineValuesMax'>;
type Asked = { trust: TrustedKeys; expected: Expected; signal: AbortSignal };

/** Verifies an export by its lines, in turns. Never throws for what it holds; where whoever asked has gone away, it stops. */
export async function checkText(text: string, { trust, expected, signal }: Asked): Promise<Verification> {
  const verification = new ExportVerification({ ...expected, trust, lineValuesMax, provider: nodeProvider });
  let turnEnds = performance.now() + turnMs;
  for (const line of linesOf(text)) {
    if (!takes(verification, line)) break;
    if (performance.now() < turnEnds) continue;
    await nextTurn();
    if (signal.aborted) break;
    turnEnds = performance.now() + turnMs;
  }
  return answerOf(verification);
}

function takes(verification: ExportVerification, line: string): boolean {
  if (line.length <= lineLengthMax) return verification.take(line);
  verification.refuseLine();
  return false;
}

/** One in memory at a time; what follows the last line feed is a line too, unless it is empty. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    yield text.slice(start, end);
    start = end + 1;
  }
}

function answerOf(verification: ExportVerification): Verification {
  const { verdict, integrity, completeness, signer, time, fault, missing, ...counts } = verification.report();
  const { receipts, records, proofs, broken_glass, issuer_defects, keys } = counts;
  return {
    ...{ verdict, integrity, completeness, signer, time, missing },
    fault: fault === null ? null : { code: fault.code, line: fault.line },
    ...{ receipts, records, proofs, keys },
    ...{ broken_glass: broken_glass.count, issuer_defects: issuer_defects.count },
  };
}
