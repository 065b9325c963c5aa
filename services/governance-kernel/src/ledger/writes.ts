/**
 * How the rows of a control reach its table. `store/ledger-functions.sql` is generated from it: the functions `put_…`,
 * `check_…` and `drop_…` of the control, and the trigger that moves the epoch.
 */
export type Writes = {
  readonly table: string;
  /** Rows are written and locked in the order of this key. */
  readonly primaryKey: readonly string[];
  readonly put: Put;
  /**
   * Present when rows are deleted; the primary key is then one column of text. A row that is already gone makes the
   * batch stale.
   */
  readonly drops?: true;
  /** SQL values of columns that an older kernel does not send. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Columns of the table that no decision reads. Updates of these columns do not move the epoch. */
  readonly unread?: readonly string[];
};

type Put =
  /**
   * Inserts a row, or updates the row that exists: all columns except the key, or those in `updated`. `merged` has the
   * columns that are computed from the row that exists, `t`, and the new row, `excluded`.
   */
  | {
      readonly kind: 'upsert';
      readonly updated?: readonly string[];
      readonly merged?: Readonly<Record<string, string>>;
    }
  /** Inserts a row. A row that exists is a fault. */
  | { readonly kind: 'insert' }
  /** Inserts a row. A row that exists makes the batch stale. */
  | { readonly kind: 'insert_once' }
  /** Updates a row that exists, if its `revision` is the one that was read, and increments the revision. */
  | { readonly kind: 'update' }
  /** A function that no other kind can express: the body in PL/pgSQL, with the rows in `puts jsonb`. */
  | { readonly kind: 'body'; readonly body: string };
