import type { BatchView, LedgerBatch } from './batch.ts';
import type { AnyControl, Wanted } from './control.ts';
import { chainName, type ChainHead, type ChainKey } from './statement.ts';

/** The head of a session that was read, and the names of the controls without rows in it. */
type ReadHead = ChainKey & ChainHead & { readonly quiet: readonly string[] };

/**
 * The version of all controls. The mark is random, and each change of a control replaces it. The timeline is
 * PostgreSQL's. A promoted standby begins a new timeline, in which the same revision of a row may stand for other
 * values.
 */
export type Epoch = { readonly mark: number; readonly timeline: string };

/** The state of the requested chains and sets in one snapshot of the database. */
export type ReadFacts = {
  readonly epoch: Epoch;
  readonly chains: readonly ChainKey[];
  /** Chains without a head have no receipt yet. */
  readonly heads: readonly ReadHead[];
  readonly sets: readonly Wanted[];
  /** The rows by the name of the control. */
  readonly rows: ReadonlyMap<string, readonly unknown[]>;
};

type Head = ChainHead & { readonly quiet: readonly string[] };
type Basis = {
  readonly control: AnyControl;
  readonly rows: Map<string, unknown>;
  readonly sets: Map<string, string[]>;
};

/** Above this number of facts the whole cache is dropped. One read restores the facts that a batch needs. */
const factsMax = 200_000;

/**
 * The cached state of the database, with the versions at which it was read. It is never trusted by itself: a commit
 * compares each version with the database, and stale facts are read again.
 */
export class KnownFacts implements BatchView {
  #epoch: Epoch | null = null;
  readonly #quietAtFirst: readonly string[];
  readonly #heads = new Map<string, Head>();
  readonly #controls = new Map<string, Basis>();

  constructor(controls: readonly AnyControl[]) {
    this.#quietAtFirst = controls.filter(({ quiet }) => quiet !== undefined).map(({ name }) => name);
  }

  /** `null` while nothing is cached. */
  get epoch(): Epoch | null {
    return this.#epoch;
  }

  knowsChain(chain: ChainKey): boolean {
    return this.#heads.has(chainName(chain));
  }

  knows({ control, key, set }: Wanted): boolean {
    if (this.#controls.get(control.name)?.sets.has(set) === true) return true;
    if (control.quiet?.covers(key) !== true) return false;
    return this.#heads.get(chainName(control.quiet.chainOf(key)))?.quiet.includes(control.name) === true;
  }

  head(chain: ChainKey): ChainHead {
    const head = this.#heads.get(chainName(chain));
    if (head === undefined) throw new Error('An entry used a chain that it did not request');
    return head;
  }

  rows(sought: Wanted): readonly unknown[] {
    const existing = this.#controls.get(sought.control.name);
    const ids = existing?.sets.get(sought.set);
    if (existing !== undefined && ids !== undefined) return ids.map((id) => existing.rows.get(id));
    if (sought.control.guard === 'key' || this.knows(sought)) return [];
    throw new Error(`An entry read ${sought.control.name} without requesting it`);
  }

  learn(read: ReadFacts): void {
    if (this.#epoch === null || !isSameEpoch(this.#epoch, read.epoch)) this.#forgetControls();
    this.#epoch = read.epoch;
    const heads = new Map(read.heads.map((head) => [chainName(head), head]));
    for (const chain of read.chains) {
      const name = chainName(chain);
      const head = heads.get(name) ?? { lamport: 0, receiptHash: null, issuedAt: null, quiet: this.#quietAtFirst };
      if (this.#heads.has(name) && this.#heads.get(name)?.receiptHash !== head.receiptHash) this.#forgetChain(name);
      this.#heads.set(name, head);
    }
    for (const { control, set } of read.sets) this.#of(control).sets.set(set, []);
    for (const control of new Set(read.sets.map((set) => set.control)))
      for (const row of read.rows.get(control.name) ?? []) {
        this.#requireWanted(control, row);
        this.#put(control, row);
      }
  }

  /** Detects a query that lost a condition, above all the condition on the tenant. */
  #requireWanted(control: AnyControl, row: unknown): void {
    const { sets } = this.#of(control);
    if (!control.setsOf(row).some((set) => sets.has(set)))
      throw new Error(`The database answered with ${control.name}, which was not requested`);
  }

  /** Updates the cache after a commit of this process. */
  absorb({ chains, changes }: Pick<LedgerBatch, 'chains' | 'changes'>): void {
    for (const { tenant, session, to } of chains) {
      const name = chainName({ tenant, session });
      const { lamport, receiptHash, issuedAt } = to;
      this.#heads.set(name, { lamport, receiptHash, issuedAt, quiet: this.#heads.get(name)?.quiet ?? [] });
    }
    for (const { control, row, kind } of changes) {
      if (control.guard === 'key') continue;
      if (kind === 'drop') this.#drop(control, row);
      else this.#put(control, control.committed?.(row) ?? row);
    }
    if (this.#size() > factsMax) this.forget();
  }

  /** The controls have changed, and only a read returns the new epoch. Chains have versions of their own. */
  passEpoch(): void {
    this.#epoch = null;
    this.#forgetControls();
  }

  /** Used when the committed state is unknown, or the cache is too large. */
  forget(): void {
    this.#epoch = null;
    this.#heads.clear();
    this.#controls.clear();
  }

  #put(control: AnyControl, row: unknown): void {
    const { rows, sets } = this.#of(control);
    const id = control.idOf(row);
    rows.set(id, row);
    for (const set of control.setsOf(row)) {
      const ids = set === id ? [] : sets.get(set);
      if (ids === undefined) continue;
      if (!ids.includes(id)) ids.push(id);
      sets.set(set, ids);
    }
    if (control.quiet !== undefined) this.#disturb(control.name, control.quiet.chainOf(row));
  }

  /** Records that the session now has a row of this control. */
  #disturb(control: string, chain: ChainKey): void {
    const name = chainName(chain);
    const head = this.#heads.get(name);
    if (head?.quiet.includes(control) !== true) return;
    const { lamport, receiptHash, issuedAt } = head;
    const quiet = head.quiet.filter((candidate) => candidate !== control);
    this.#heads.set(name, { lamport, receiptHash, issuedAt, quiet });
  }

  #drop(control: AnyControl, row: unknown): void {
    const { rows, sets } = this.#of(control);
    rows.delete(control.idOf(row));
    for (const set of control.setsOf(row)) sets.delete(set);
  }

  #of(control: AnyControl): Basis {
    const existing = this.#controls.get(control.name) ?? { control, rows: new Map(), sets: new Map() };
    this.#controls.set(control.name, existing);
    return existing;
  }

  /** Forgets all rows that a chain does not guard, since they were read under the old epoch. */
  #forgetControls(): void {
    for (const [name, { control }] of this.#controls) if (control.guard !== 'chain') this.#controls.delete(name);
  }

  /** Forgets the sets that were read under an old head of this chain. Their names begin with the name of the chain. */
  #forgetChain(name: string): void {
    for (const { control, sets } of this.#controls.values()) {
      if (control.guard !== 'chain') continue;
      for (const set of sets.keys()) if (set.startsWith(`${name}\n`)) sets.delete(set);
    }
  }

  #size(): number {
    return [...this.#controls.values()].reduce((sum, { rows, sets }) => sum + rows.size + sets.size, this.#heads.size);
  }
}

function isSameEpoch(a: Epoch, b: Epoch): boolean {
  return a.mark === b.mark && a.timeline === b.timeline;
}
