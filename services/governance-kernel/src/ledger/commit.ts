/**
 * One batch, from its entries to their answers, always in this order:
 *   (1) load the facts that the entries need: from memory, else by one read of one snapshot.
 *   (2) conclude the entries one after the other, and sign.
 *   (3) append: one statement compares every version with the database, and writes all of it or nothing.
 *   (4) if a version moved, or an entry sealed nothing that a version could guard: lock controls, chains, rows, in this order.
 *   (5) read everything again under the locks, conclude again, append, commit.
 *   (6) remember what was committed.
 *   (7) answer.
 */
import { LedgerBatch } from './batch.ts';
import type { AnyControl, Wanted } from './control.ts';
import { KnownFacts, type Epoch, type ReadFacts } from './known-facts.ts';
import type { Sealer } from './seal.ts';
import { chainName, type ChainKey, type PlaceOf } from './statement.ts';

/** One thing to seal. `conclude` may run more than once, waits for nothing, and answers when its place in the log is known. */
export type LedgerEntry<Result> = {
  readonly chain: ChainKey;
  readonly wants: readonly Wanted[];
  conclude(batch: LedgerBatch): (placeOf: PlaceOf) => Result;
};

/** Concludes, writes and answers entries together. Rejects when nothing of them was committed. */
export type Commit = (entries: readonly LedgerEntry<unknown>[]) => Promise<PromiseSettledResult<unknown>[]>;

export type Sought = { readonly chains: readonly ChainKey[]; readonly sets: readonly Wanted[] };

/** A batch with the epoch that its facts were read under. */
export type LedgerWrite = { readonly epoch: Epoch; readonly batch: LedgerBatch };

/** The conclusion on facts: a write, or none. */
type Concluded = { readonly write: LedgerWrite | null };

export type LedgerStore = {
  /** Everything from one snapshot. */
  read(sought: Sought): Promise<ReadFacts>;
  /** Its own transaction. Resolves to the place of the first entry. Throws StaleFacts when a version moved. */
  append(write: LedgerWrite): Promise<number>;
  /**
   * One transaction: locks what is sought, reads it, concludes, appends. `alone`: no other kernel commits at the same
   * time, because facts of all decisions are about to change. Throws StaleFacts when another kernel wrote a key that
   * nothing can lock.
   */
  underLocks<Made extends Concluded>(
    sought: Sought,
    how: { alone: boolean },
    conclude: (read: ReadFacts) => Made,
  ): Promise<Made & { first: number }>;
};

/** The database no longer holds the facts of a batch. Nothing was written. */
export class StaleFacts extends Error {
  override readonly name = 'StaleFacts';
}

/** Under locks only a key that another kernel writes in this moment can be lost, and then it is there to be read. */
const lockedAttemptsMax = 5;

type Parts = { store: LedgerStore; sealer: Sealer; controls: readonly AnyControl[] };
type Task = { known: KnownFacts; sought: Sought; entries: readonly LedgerEntry<unknown>[] };
type Conclusion = { after: (placeOf: PlaceOf) => unknown; isSealed: boolean } | { error: unknown };
type Tried = { batch: LedgerBatch; conclusions: Conclusion[] };

export function createCommit(parts: Parts): Commit {
  const known = new KnownFacts(parts.controls);
  return async (entries) => {
    const task = { known, sought: soughtBy(entries), entries };
    try {
      return (await commitOnMemory(parts, task)) ?? (await commitUnderLocks(parts, task));
    } catch (error) {
      known.forget(); // a lost connection leaves open what was committed
      throw error;
    }
  };
}

/** Steps 1 to 3. Null when the batch has to be decided under locks. */
async function commitOnMemory({ store, sealer }: Parts, { known, sought, entries }: Task) {
  const epoch = await inform(store, known, sought);
  const tried = concludeAll(entries, new LedgerBatch(known, sealer));
  if (!isGuarded(tried)) return null;
  try {
    const first = await store.append({ epoch, batch: tried.batch });
    known.absorb(tried.batch);
    return answer(tried, first);
  } catch (error) {
    if (error instanceof StaleFacts) return null;
    throw error;
  }
}

/** Reads what is not known. Where the epoch moved, what was known before is read again, once: the commit checks it anyway. */
async function inform(store: LedgerStore, known: KnownFacts, { chains, sets }: Sought): Promise<Epoch> {
  for (let reads = 0; reads < 2; reads += 1) {
    const missing = {
      chains: chains.filter((chain) => !known.knowsChain(chain)),
      sets: sets.filter((set) => set.control.guard !== 'key' && !known.knows(set)),
    };
    if (known.epoch !== null && missing.chains.length === 0 && missing.sets.length === 0) break;
    known.learn(await store.read(missing));
  }
  if (known.epoch === null) throw new Error('A read of facts brought no epoch');
  return known.epoch;
}

/**
 * An entry's statement is guarded by the versions of its facts. One that states nothing, or changes those facts, needs
 * locks.
 */
function isGuarded({ batch, conclusions }: Tried): boolean {
  const allSealed = conclusions.every((conclusion) => 'after' in conclusion && conclusion.isSealed);
  return allSealed && !batch.changesControls && batch.events.length === 0;
}

/** Steps 4 and 5. */
async function commitUnderLocks({ store, sealer, controls }: Parts, { known, sought, entries }: Task) {
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
      remember(known, read, tried.batch);
      return answer(tried, first);
    } catch (error) {
      if (!(error instanceof StaleFacts)) throw error;
    }
  }
  throw new Error('The facts of a batch kept changing under its locks');
}

function remember(known: KnownFacts, read: ReadFacts, batch: LedgerBatch): void {
  known.learn({ ...read, sets: read.sets.filter(({ control }) => control.guard !== 'key') });
  known.absorb(batch);
  if (batch.changesControls) known.passEpoch();
}

/** Each chain and each set once; entries of one batch mostly want the same. */
function soughtBy(entries: readonly LedgerEntry<unknown>[]): Sought {
  const chains = new Map<string, ChainKey>();
  const sets = new Map<AnyControl, Map<string, Wanted>>();
  for (const { chain, wants } of entries) {
    chains.set(chainName(chain), chain);
    for (const set of wants) {
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
      if (batch.sealed.length > sealedBefore) throw error; // what is half concluded is not committed
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
