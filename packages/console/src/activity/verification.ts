/** The input of the worker: unverified, as it came over the wire. */
export type Claim = {
  receipt: unknown;
  keys: unknown;
  proof: { log_index: number; tree_size: number; hashes: string[]; checkpoint: { note: string } };
};

export type Verified =
  { isProven: true; keyId: string; treeSize: number } | { isProven: false; code: string; message: string };
