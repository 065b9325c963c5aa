import type { Verdict } from '@countersign/contracts';
import type { VerdictAgain } from '@countersign/contracts/control-plane';

const rank: Record<Verdict, number> = { DENY: 0, ESCALATE: 1, ALLOW: 2 };

/**
 * Whether the decision is more permissive than before. A decision that cannot be replayed does not count as more
 * permissive.
 */
export function isWidened({ before, after }: { before: Verdict; after: VerdictAgain }): boolean {
  return after !== 'UNREPLAYABLE' && rank[after] > rank[before];
}
