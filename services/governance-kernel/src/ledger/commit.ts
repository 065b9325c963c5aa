/**
 * One batch, from its entries to their answers, always in this order: (1) load the facts of the entries, from memory or
 * by one read of one snapshot. (2) conclude the entries one after the other, and sign. (3) append: one statement
 * compares every version with the database, and writes everything or nothing. (4) if a version moved, or the compared
 * versions do not guard the batch: lock controls, chains and rows, in this order. (5) read everything again under the
 * locks, conclude again, append, commit. (6) cache what was committed. (7) answer.
 */
import { LedgerBatch } from './batch.ts';
import type { AnyControl, Wanted } from './control.ts';
import { KnownFacts, type Epoch, type ReadFacts } from './known-facts.ts';
import type { Sealer } from './seal.ts';
import { chainName, type ChainKey, type PlaceOf } from './statement.ts';

/**
 * One entry to seal. `conclude` is synchronous and may run more than once. It returns a function that creates the
 * answer once the places in the log are known.
 */
export type LedgerEntry<Result> = {
  readonly chain: ChainKey;
  readonly wants: readonly Wanted[];
  conclude(batch: LedgerBatch): (placeOf: PlaceOf) => Result;
};

/** Concludes, writes and answers entries together. Rejects when none of them was committed. */
export type Commit = (entries: readonly LedgerEntry<unknown>[]) => Promise<PromiseSettledResult<unknown>[]>;

export type Sought = { readonly chains: readonly ChainKey[]; readonly sets: readonly Wanted[] };

/** A batch with the epoch of its facts. */
export type LedgerWrite = { readonly epoch: Epoch; readonly batch: LedgerBatch };

/** The conclusion from facts: a write, or none. */
type Concluded = { readonly write: LedgerWrite | null };

export type LedgerStore = {
  /** Reads everything from one snapshot. */
  read(sought: Sought): Promise<ReadFacts>;
  /** Runs its own transaction. Resolves to the place of the first entry. Throws StaleFacts when a version moved. */
  append(write: LedgerWrite): Promise<number>;
  /**
   * One transaction that locks and reads `sought`, concludes and appends. `alone`: no other kernel commits at the same
   * time, because facts of all decisions are about to change. Throws StaleFacts when another kernel wrote a key that
   * cannot be locked.
   */
  underLocks<Made extends Concluded>(
    sought: Sought,
    how: { alone: boolean },
    conclude: (read: ReadFacts) => Made,
  ): Promise<Made & { first: number }>;
};

/** The facts of a batch have changed in the database. Nothing was written. */
export class StaleFacts extends Error {
  override readonly name = 'StaleFacts';
}

/**
 * Under locks, a batch becomes stale only if another kernel writes the same key at that time. It also becomes stale
 * once if it must run `alone`. The next attempt reads the key that was written.
 */
const lockedAttemptsMax = 5;

type Deps = { store: LedgerStore; sealer: Sealer; controls: readonly AnyControl[] };
type Task = { facts: KnownFacts; entries: readonly LedgerEntry<unknown>[] };
type Conclusion = { after: (placeOf: PlaceOf) => unknown; isSealed: boolean } | { error: unknown };
type Tried = { batch: LedgerBatch; conclusions: Conclusion[] };

export function createCommit(deps: Deps): Commit {
  const existing = new KnownFacts(deps.controls);
  return async (entries) => {
    const task = { facts: existing, entries };
    try {
      return (await commitOnMemory(deps, task)) ?? (await commitUnderLocks(deps, task));
    } catch (error) {
      existing.forget(); // after a lost connection it is unknown what was committed
      throw error;
    }
  };
}

/** Steps 1 to 3. `null` when the batch must be decided under locks. */
async function commitOnMemory({ store, sealer }: Deps, { facts, entries }: Task) {
  const epoch = await inform(store, facts, entries);
  const tried = concludeAll(entries, new LedgerBatch(facts, sealer));
  if (!isGuarded(tried)) return null;
  try {
    const first = await store.append({ epoch, batch: tried.batch });
    facts.absorb(tried.batch);
    return answer(tried, first);
  } catch (error) {
    if (error instanceof StaleFacts) return null;
    throw error;
  }
}

/** Reads missing facts. If the epoch moved, earlier facts are read again, once, since the commit checks them anyway. */
async function inform(store: LedgerStore, facts: KnownFacts, entries: Task['entries']): Promise<Epoch> {
  for (let reads = 0; reads < 2; reads += 1) {
    const missing = soughtBy(entries, {
      chain: (chain) => !facts.knowsChain(chain),
      set: (set) => set.control.guard !== 'key' && !facts.knows(set),
    });
    if (facts.epoch !== null && missing.chains.length === 0 && missing.sets.length === 0) break;
    facts.learn(await store.read(missing));
  }
  if (facts.epoch === null) throw new Error('A read of facts brought no epoch');
  return facts.epoch;
}

/**
 * Whether the versions that `append` compares guard the batch. An entry without a statement, a change to facts of all
 * decisions, and events need locks.
 */
function isGuarded({ batch, conclusions }: Tried): boolean {
  const allSealed = conclusions.every((conclusion) => 'after' in conclusion && conclusion.isSealed);
  return allSealed && !batch.changesControls && batch.events.length === 0;
}

/** Steps 4 and 5. */
async function commitUnderLocks({ store, sealer, controls }: Deps, { facts, entries }: Task) {
  const sought = soughtBy(entries, all);
  for (let attempt = 0; attempt < lockedAttemptsMax; attempt += 1) {
    const alone = attempt > 0;
    try {
      const { first, read, tried } = await store.underLocks(sought, { alone }, (facts) => {
        const view = new KnownFacts(controls);
        view.learn(facts);
        const { batch, conclusions } = concludeAll(entries, new LedgerBatch(view, sealer));
        if (batch.changesControls && !alone) throw new StaleFacts('Facts of all decisions change');
        const write = batch.isEmpty ? null : { epoch: facts.epoch, batch };
        return { write, read: facts, tried: { batch, conclusions } };
      });
      remember(facts, read, tried.batch);
      return answer(tried, first);
    } catch (error) {
      if (!(error instanceof StaleFacts)) throw error;
    }
  }
  throw new Error('The facts of a batch kept changing under its locks');
}

function remember(facts: KnownFacts, read: ReadFacts, batch: LedgerBatch): void {
  const { epoch, chains, heads, rows } = read;
  const sets = read.sets.filter(({ control }) => control.guard !== 'key');
  facts.learn({ epoch, chains, heads, sets, rows });
  facts.absorb(batch);
  if (batch.changesControls) facts.passEpoch();
}

type Which = { chain(chain: ChainKey): boolean; set(set: Wanted): boolean };

const all: Which = { chain: () => true, set: () => true };

/** The chains and sets of the entries that are to be read, each once, since entries of one batch often need the same. */
function soughtBy(entries: readonly LedgerEntry<unknown>[], which: Which): Sought {
  const chains = new Map<string, ChainKey>();
  const sets = new Map<AnyControl, Map<string, Wanted>>();
  for (const { chain, wants } of entries) {
    if (which.chain(chain)) chains.set(chainName(chain), chain);
    for (const set of wants) {
      if (!which.set(set)) continue;
      const ofControl = sets.get(set.control);
      if (ofControl === undefined) sets.set(set.control, new Map([[set.set, set]]));
      else ofControl.set(set.set, set);
    }
  }
  return { chains: [...chains.values()], sets: [...sets.values()].flatMap((ofControl) => [...ofControl.values()]) };
}

function concludeAll(entries: readonly LedgerEntry<unknown>[], batch: LedgerBatch): Tried {
  const conclusions = entries.map((entry): Conclusion => {
    const sealedBefore = batch.sealed.length;
    try {
      const after = entry.conclude(batch);
      return { after, isSealed: batch.sealed.length > sealedBefore };
    } catch (error) {
      if (batch.sealed.length > sealedBefore) throw error; // a partly concluded entry must not be committed
      return { error };
    }
  });
  return { batch, conclusions };
}

function answer({ batch, conclusions }: Tried, first: number): PromiseSettledResult<unknown>[] {
  const places = new Map(batch.sealed.map((entry, index) => [entry, first + index]));
  const placeOf: PlaceOf = (entry) => {
    const place = places.get(entry);
    if (place === undefined) throw new Error('This entry is not of this batch');
    return place;
  };
  return conclusions.map((conclusion) =>
    'error' in conclusion
      ? { status: 'rejected', reason: conclusion.error }
      : { status: 'fulfilled', value: conclusion.after(placeOf) },
  );
}
