import type { ChainKey } from './statement.ts';
import type { Writes } from './writes.ts';

export type Placeholder = (index: number) => string;

/** A row as PostgreSQL writes it into JSON: column names, timestamps as text, bigint as number. */
export type StoredRow = Readonly<Record<string, unknown>>;

/**
 * Something that decisions read or change. One module each, in the list of `src/controls.ts`: reading, remembering, guarding
 * and writing its rows is the ledger's work, for all of them alike.
 *
 * Rows are found in sets: all rows of one key. They are read-only; a change is another row with the same id.
 */
export type Control<Key, Row> = {
  /** Also its member in the changes that `kernel.append` writes. */
  readonly name: string;
  /**
   * The version that changes with a row of a set, and so proves that the remembered rows are current: `epoch`: the one
   * epoch of all controls, a random mark that triggers on the tables replace; `chain`: the head of the session, since
   * every change of a row seals a receipt there; its sets are named behind the chain; `row`: the row's own revision,
   * while the epoch moves when rows join or leave a set; `key`: nothing is remembered, a set is taken to be empty, and
   * writing refuses a key that exists.
   */
  readonly guard: 'epoch' | 'chain' | 'row' | 'key';
  /**
   * For a control that is guarded by row: rows that were read and not changed are compared too, since a refusal depends
   * on them. A fence needs no comparison: in its window its count only grows, and all else of it moves the epoch.
   */
  readonly comparesReads?: true;
  /** How many text[] parameters `select` takes; all are columns of keys. */
  readonly keyColumns: number;
  /** The rows of many keys. `parameter(0)` is the placeholder of the first array. */
  select(parameter: Placeholder): string;
  /** Locks those rows in the order of their primary key: for controls that are guarded by row. */
  lock?(parameter: Placeholder): string;
  keyValues(key: Key): readonly (string | null)[];
  /** Names the set, unambiguously. */
  keyText(key: Key): string;
  rowOf(stored: StoredRow): Row;
  idOf(row: Row): string;
  /** The sets that the row is in. A set that is named as the row's id holds this row alone. */
  setsOf(row: Row): readonly string[];
  /** The row as `kernel.append` takes it; absent where the ledger never writes. */
  stored?(row: Row): StoredRow;
  /** How the ledger writes those rows, and the columns that it writes. Both are present where `stored` is. */
  readonly writes?: Writes;
  readonly columns?: readonly string[];
  /** Tables whose changes move the epoch, for the guards `epoch` and `row`. Without it: the table of `writes`. */
  readonly epochTables?: readonly string[];
  /** The row after a commit that changed it. */
  committed?(row: Row): Row;
  /** Chain-guarded controls whose rows are few: sessions without any are remembered as such. */
  readonly quiet?: {
    /** True in SQL for a session `h` that has none of them. */
    readonly sql: string;
    /** Is this a set that is empty in such a session? */
    covers(key: Key): boolean;
    chainOf(of: Key | Row): ChainKey;
  };
};

/** Methods are compared bivariantly, so every control fits here; what it gives and takes is matched by the functions below. */
export type AnyControl = Control<unknown, unknown>;

/** A set that an entry needs to see. */
export type Wanted = { readonly control: AnyControl; readonly key: unknown; readonly set: string };

export function wanted<Key, Row>(control: Control<Key, Row>, key: Key): Wanted {
  return { control, key, set: control.keyText(key) };
}

/** A row that a sealed entry leaves behind, or takes away. */
export type Change = { readonly control: AnyControl; readonly row: unknown; readonly kind: 'put' | 'drop' };

export function put<Key, Row>(control: Control<Key, Row>, row: Row): Change {
  return { control, row, kind: 'put' };
}

export function drop<Key, Row>(control: Control<Key, Row>, row: Row): Change {
  return { control, row, kind: 'drop' };
}
