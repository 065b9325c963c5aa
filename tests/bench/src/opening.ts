import type { Measured } from './measured.ts';
import type { WarmUp } from './warm-up.ts';

/** The measurement of a member in one opening of its comparison, which starts new processes. */
export type Opening = {
  windows: readonly Measured[];
  /** `null` for a member without a warm-up. */
  warmUp: WarmUp | null;
};

/** A member that was still compiling when it was measured says nothing about the subject. */
export function isStable({ warmUp }: Opening): boolean {
  return warmUp?.isStable !== false;
}
