import type { VectorResult } from '@countersign/contracts/governance-kernel';

/** The result of executing a vector. `fault` is `null` when everything was as expected. */
export type Executed = { fault: string | null; seen: VectorResult['seen'] };

/** The longest explanation in a report. */
const detailLengthMax = 1_024;

export function detailOf(text: string): string {
  return text.slice(0, detailLengthMax).replace(/[\uD800-\uDBFF]$/, '');
}
