import type { ChainKey } from './statement.ts';
import type { Writes } from './writes.ts';

export type Placeholder = (index: number) => string;

/** A row as PostgreSQL writes it into JSON: column names, timestamps as text, bigint as number. */
export type StoredRow = Readonly<Record<string, unknown>>;

/**
 * State that sealed entries read or change. Each control is one module, in the list of `src/controls.ts`. The ledger
 * reads, caches, guards and writes the rows of all controls alike. Rows are found in sets: all rows of one key. They
 * are read-only. A change is another row with the same id.
 */
export type Control<Key, Row> = {
  /** Also the name of its member in the changes that `kernel.append` writes. */
  readonly name: string;
  /**
   * The version that changes with a row of a set, and so proves that cached rows are current. `epoch`: the one epoch of
   * all controls, a random mark that table triggers replace. `chain`: the head of the session, since every change of a
   * row seals a receipt there. The names of its sets begin with the name of the chain. `row`: the row's own revision,
   * while the epoch moves when rows join or leave a set. `key`: nothing is cached, a set is assumed empty, and a write
   * refuses an existing key.
   */
  readonly guard: 'epoch' | 'chain' | 'row' | 'key';
  /**
   * For controls with the guard `row`: unchanged rows that were read are compared too, since a refusal depends on
   * them. A fence needs no comparison: its count only grows within a window, and all other changes move the epoch.
   */
  readonly comparesReads?: true;
  /** The number of text[] parameters of `select`, which are columns of keys. */
  readonly keyColumns: number;
  /** The SQL query for the rows of many keys. `parameter(0)` is the placeholder of the first array. */
  select(parameter: Placeholder): string;
  /** Locks the selected rows in the order of their primary key. Present for the guard `row`. */
  lock?(parameter: Placeholder): string;
  keyValues(key: Key): readonly (string | null)[];
  /** The unambiguous name of a set. */
  keyText(key: Key): string;
  rowOf(stored: StoredRow): Row;
  idOf(row: Row): string;
  /** The sets that contain the row. A set with the name of the row's id contains only this row. */
  setsOf(row: Row): readonly string[];
  /** The row as `kernel.append` takes it. Absent when the ledger never writes it. */
  stored?(row: Row): StoredRow;
  /** How the ledger writes the rows. Present together with `stored`. */
  readonly writes?: Writes;
  readonly columns?: readonly string[];
  /** Tables whose changes move the epoch, for the guards `epoch` and `row`. The default is the table of `writes`. */
  readonly epochTables?: readonly string[];
  /** The row after a commit that changed it. */
  committed?(row: Row): Row;
  /** For controls with the guard `chain` and few rows: sessions without rows are cached as such. */
  readonly quiet?: {
    /** An SQL condition that is true for a session `h` without rows of this control. */
    readonly sql: string;
    /** Whether the set of this key is empty in a session without rows of this control. */
    covers(key: Key): boolean;
    chainOf(of: Key | Row): ChainKey;
  };
};

/**
 * Methods are compared bivariantly, so every control fits here. The functions below pair each control with its own keys
 * and rows.
 */
export type AnyControl = Control<unknown, unknown>;

/** A set that an entry reads. */
export type Wanted = { readonly control: AnyControl; readonly key: unknown; readonly set: string };

export function wanted<Key, Row>(control: Control<Key, Row>, key: Key): Wanted {
  return { control, key, set: control.keyText(key) };
}

/** A row that a sealed entry writes or deletes. */
export type Change = { readonly control: AnyControl; readonly row: unknown; readonly kind: 'put' | 'drop' };

export function put<Key, Row>(control: Control<Key, Row>, row: Row): Change {
  return { control, row, kind: 'put' };
}

export function drop<Key, Row>(control: Control<Key, Row>, row: Row): Change {
  return { control, row, kind: 'drop' };
}
