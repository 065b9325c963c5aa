import type { VectorResult } from '@countersign/contracts/governance-kernel';

/** What executing a vector showed; `fault` null: everything was as expected. */
export type Executed = { fault: string | null; seen: VectorResult['seen'] };

/** As much of an explanation as a report keeps. */
const detailLengthMax = 1_024;

export function detailOf(text: string): string {
  return text.slice(0, detailLengthMax).replace(/[\uD800-\uDBFF]$/, '');
}
