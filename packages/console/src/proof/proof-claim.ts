import type { EnteredTrust, KeySet } from './pinned-keys.ts';

/** The unverified input of the worker. `original` is the text of a dropped file, or `null` without one. */
export type ProofClaim = { statement: unknown; keys: KeySet | EnteredTrust; original: string | null };

export type Proven =
  | { isProven: true; log: string; treeSize: number; signedAt: string; isOriginal: boolean }
  | { isProven: false; code: string; message: string };
