import type { Digest } from '@countersign/contracts';

/** Which bundle is active for a tenant (or for `*`), and when its source last confirmed it. */
export type PolicyHead = {
  readonly tenant: string;
  readonly epoch: number;
  readonly hash: Digest;
  readonly confirmedAtMs: number;
  /** The bundle itself, only while it is being activated. */
  readonly activation?: { readonly text: string; readonly keyId: string; readonly signature: string };
};
