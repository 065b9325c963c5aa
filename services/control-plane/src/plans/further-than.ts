import type { BlastRadius } from '@countersign/contracts/control-plane';

/** New sessions and relations do not count as a greater reach. Each call of a known agent may add them. */
const counted = ['agents', 'runs', 'tools', 'connectors', 'approvals', 'dispatches'] as const;

type Further = Partial<Record<(typeof counted)[number], readonly string[]>> & { unseen?: true };

/**
 * The part of `now` that `then` did not reach. `null` when there is none. If less of the log could be read or verified
 * than for `then`, that counts as a greater reach.
 */
export function furtherThan(then: BlastRadius, now: BlastRadius): Further | null {
  const added = counted.flatMap((name) => {
    const seen = new Set<string>(then.affected[name]);
    const more = now.affected[name].filter((id) => !seen.has(id));
    return more.length === 0 ? [] : [[name, more] as const];
  });
  const isUnseen = (then.is_whole && !now.is_whole) || now.unverifiable > then.unverifiable;
  if (added.length === 0 && !isUnseen) return null;
  return { ...Object.fromEntries(added), ...(isUnseen ? { unseen: true } : {}) };
}
