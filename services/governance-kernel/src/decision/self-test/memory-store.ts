import type { LedgerStore, Sought } from '../../ledger/commit.ts';

/** A ledger store in memory: the given rows, one epoch, and a log that only counts. */
export function memoryStore(rows: ReadonlyMap<string, readonly unknown[]>): LedgerStore {
  let size = 0;
  const facts = (sought: Sought) => ({ epoch: { mark: 1, timeline: '00000001' }, heads: [], rows, ...sought });
  const append = (count: number) => {
    size += count;
    return size - count;
  };
  return {
    read: async (sought) => facts(sought),
    append: async ({ batch }) => append(batch.sealed.length),
    underLocks: async (sought, _how, decide) => {
      const made = decide(facts(sought));
      return { ...made, first: append(made.write?.batch.sealed.length ?? 0) };
    },
  };
}
