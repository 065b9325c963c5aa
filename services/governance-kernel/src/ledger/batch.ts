import type { OutgoingEvent } from '@countersign/messaging';
import { wanted, type AnyControl, type Change, type Control, type Wanted } from './control.ts';
import { sealStatement, type Sealer } from './seal.ts';
import {
  chainName,
  issuedMs,
  notBefore,
  type ChainHead,
  type ChainKey,
  type SealedEntry,
  type Statement,
} from './statement.ts';

/** The sets that were read for a batch. Using an unread set is a fault of the entry, which did not request it. */
export type BatchView = {
  head(chain: ChainKey): ChainHead;
  rows(wanted: Wanted): readonly unknown[];
};

/** The effects of an entry besides its receipt. They are committed together with the receipt. */
export type Effects = { readonly changes?: readonly Change[]; readonly events?: readonly OutgoingEvent[] };

type Overlay = { readonly control: AnyControl; readonly rows: Map<string, Pick<Change, 'row' | 'kind'>> };

/** A chain that grew, with its old and its new head. */
type GrownChain = ChainKey & { readonly from: ChainHead; readonly to: ChainHead };

/**
 * The working copy of one transaction. Entries are concluded one after the other, so the second call of a batch sees
 * the effects of the first. All changes are made by `seal`, atomically, so an entry that throws leaves nothing behind.
 */
export class LedgerBatch {
  readonly sealed: SealedEntry[] = [];
  readonly events: OutgoingEvent[] = [];
  readonly #view: BatchView;
  readonly #sealer: Sealer;
  readonly #chains = new Map<string, GrownChain>();
  readonly #overlays = new Map<string, Overlay>();
  readonly #read = new Map<AnyControl, Map<string, unknown>>();

  constructor(view: BatchView, sealer: Sealer) {
    this.#view = view;
    this.#sealer = sealer;
  }

  /** The rows of a set, including the changes of earlier entries of the batch. */
  rows<Key, Row>(control: Control<Key, Row>, key: Key): readonly Row[] {
    return this.rowsOf(control, wanted(control, key));
  }

  /** The same for a set of the control that was named before. */
  rowsOf<Key, Row>(control: Control<Key, Row>, sought: Wanted): readonly Row[] {
    const read = this.#view.rows(sought);
    if (control.comparesReads === true) this.#noteRead(sought.control, read);
    const overlay = this.#overlays.get(control.name);
    // the rows of a control have its type
    return (overlay === undefined ? read : overlaid(overlay, sought.set, read)) as readonly Row[];
  }

  row<Key, Row>(control: Control<Key, Row>, key: Key): Row | null {
    return this.rows(control, key)[0] ?? null;
  }

  /** The instant of the next statement of this chain, at the clock time `nowMs`. */
  issuedMs(chain: ChainKey, nowMs: number): number {
    return issuedMs(this.#headOf(chain), nowMs);
  }

  /**
   * Seals a statement together with its effects, which may refer to the sealed entry. Throws for a statement that
   * cannot be parsed again.
   */
  seal(statement: Statement, effectsOf: (entry: SealedEntry) => Effects = () => ({})): SealedEntry {
    const chain: ChainKey = { tenant: statement.receipt.tenant_id, session: statement.receipt.session_id };
    const name = chainName(chain);
    const head = this.#headOf(chain);
    const entry = sealStatement(this.#sealer, notBefore(statement, head), head);
    const { changes = [], events = [] } = effectsOf(entry);
    const { issued_at: issuedAt } = entry.payload;
    const to = { lamport: head.lamport + 1, receiptHash: entry.receiptHash, issuedAt };
    const from = this.#chains.get(name)?.from ?? head;
    this.#chains.set(name, { tenant: chain.tenant, session: chain.session, from, to });
    this.sealed.push(entry);
    this.#apply(changes);
    this.events.push(...events);
    return entry;
  }

  get chains(): GrownChain[] {
    return [...this.#chains.values()];
  }

  get changes(): Change[] {
    return [...this.#overlays.values()].flatMap(({ control, rows }) =>
      [...rows.values()].map(({ row, kind }) => ({ control, row, kind })),
    );
  }

  /** Rows that were read and not changed, of controls that compare such rows. */
  get reads(): { control: AnyControl; rows: unknown[] }[] {
    return [...this.#read].map(([control, rows]) => {
      const changed = this.#overlays.get(control.name)?.rows;
      return { control, rows: [...rows].filter(([id]) => changed?.has(id) !== true).map(([, row]) => row) };
    });
  }

  get isEmpty(): boolean {
    return this.sealed.length === 0 && this.#overlays.size === 0;
  }

  /** Whether the batch changes a control that the epoch guards. */
  get changesControls(): boolean {
    return [...this.#overlays.values()].some(({ control }) => control.guard === 'epoch');
  }

  #headOf(chain: ChainKey): ChainHead {
    return this.#chains.get(chainName(chain))?.to ?? this.#view.head(chain);
  }

  #noteRead(control: AnyControl, rows: readonly unknown[]): void {
    const noted = this.#read.get(control) ?? new Map<string, unknown>();
    this.#read.set(control, noted);
    for (const row of rows) noted.set(control.idOf(row), row);
  }

  #apply(changes: readonly Change[]): void {
    for (const { control, row, kind } of changes) {
      const overlay = this.#overlays.get(control.name) ?? { control, rows: new Map() };
      this.#overlays.set(control.name, overlay);
      overlay.rows.set(control.idOf(row), { row, kind });
    }
  }
}

function overlaid({ control, rows }: Overlay, set: string, read: readonly unknown[]): unknown[] {
  const kept = read.filter((row) => !rows.has(control.idOf(row)));
  const changed = [...rows.values()].filter(({ row, kind }) => kind === 'put' && control.setsOf(row).includes(set));
  return [...kept, ...changed.map(({ row }) => row)];
}
