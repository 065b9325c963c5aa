import type { BlastRadius } from '@countersign/contracts/control-plane';

/** Sessions come and go with every call of an agent that was seen, and relations are given to it: neither is reached by more than was seen. */
const held = ['agents', 'runs', 'tools', 'connectors', 'approvals', 'dispatches'] as const;

type Further = Partial<Record<(typeof held)[number], readonly string[]>> & { unseen?: true };

/**
 * The part of `now` that `then` did not reach; `null` when there is none. A part that could not be read or verified may
 * be anything.
 */
export function furtherThan(then: BlastRadius, now: BlastRadius): Further | null {
  const added = held.flatMap((name) => {
    const seen = new Set<string>(then.affected[name]);
    const more = now.affected[name].filter((id) => !seen.has(id));
    return more.length === 0 ? [] : [[name, more] as const];
  });
  const isUnseen = (then.is_whole && !now.is_whole) || now.unverifiable > then.unverifiable;
  if (added.length === 0 && !isUnseen) return null;
  return { ...Object.fromEntries(added), ...(isUnseen ? { unseen: true } : {}) };
}
