import type { PolicyBundle } from '@countersign/contracts/governance-kernel';

/** A bundle from the text that a kernel stored after it had parsed the bundle. */
export function storedBundle(text: string): PolicyBundle {
  return JSON.parse(text) as PolicyBundle; // only kernels write this column
}
