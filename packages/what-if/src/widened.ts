import type { Verdict } from '@countersign/contracts';
import type { VerdictAgain } from '@countersign/contracts/control-plane';

const rank: Record<Verdict, number> = { DENY: 0, ESCALATE: 1, ALLOW: 2 };

/** More permissive than it was. A decision that cannot be replayed is not known to be more permissive. */
export function isWidened({ before, after }: { before: Verdict; after: VerdictAgain }): boolean {
  return after !== 'UNREPLAYABLE' && rank[after] > rank[before];
}
