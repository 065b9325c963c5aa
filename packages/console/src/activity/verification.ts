/** The unverified input of the worker, as received from the services. */
export type Claim = {
  receipt: unknown;
  keys: unknown;
  /** The witnesses that this person trusts, as a tlog-policy. `null` when there are none. */
  witnesses: string | null;
  proof: { log_index: number; tree_size: number; hashes: string[]; checkpoint: { note: string } };
};

/**
 * Which party bounds the time of the receipt. `logged`: a checkpoint of the operator's log of this time contains it.
 * `witnessed`: the witnesses of the person had cosigned such a checkpoint by this time.
 */
export type ReceiptTime =
  | { kind: 'witnessed'; by: string }
  /** `problem`: why the witnesses of the person do not count. `null` when the person trusts none. */
  | { kind: 'logged'; by: string; problem: string | null };

export type Verified =
  | { isProven: true; keyId: string; treeSize: number; time: ReceiptTime }
  | { isProven: false; code: string; message: string };
