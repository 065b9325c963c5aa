/** What the worker is handed, nothing of it believed. `original`: the text of a file that somebody dropped; null: there is none. */
export type ProofClaim = { statement: unknown; keys: unknown; original: string | null };

export type Proven =
  | { isProven: true; log: string; treeSize: number; signedAt: string; isOriginal: boolean }
  | { isProven: false; code: string; message: string };
