/** What the worker is handed: as it came over the wire, nothing of it believed. */
export type Claim = {
  receipt: unknown;
  keys: unknown;
  proof: { log_index: number; tree_size: number; hashes: string[]; checkpoint: { note: string } };
};

export type Verified =
  { isProven: true; keyId: string; treeSize: number } | { isProven: false; code: string; message: string };
