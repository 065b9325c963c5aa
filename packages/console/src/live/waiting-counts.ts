import type { Snapshot } from '@countersign/contracts/control-plane';

/** The control plane counts pending calls at most up to these numbers. */
const pendingMax = 1_000;
export const forPersonMax = 200;

/** A number of calls. From `max` on, there may be more. */
type Counted = { count: number; max: number };

/** The calls that wait for the person, and for other people. `null` while they are unknown. */
export function waitingCounts({ boundary }: Snapshot): { mine: Counted; others: Counted } | null {
  if (boundary === null) return null;
  const { pending_approvals: all, waiting_for_you: mine } = boundary.counts;
  return {
    mine: { count: mine, max: forPersonMax },
    others: { count: Math.max(0, all - mine), max: mine > 0 ? pendingMax - forPersonMax : pendingMax },
  };
}

export function countInWords({ count, max }: Counted): string {
  return count >= max ? `${max.toLocaleString('en')}+` : String(count);
}
