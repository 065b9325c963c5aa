import type { Digest } from '@countersign/contracts';

/** Which bundle is active for a tenant (or for `*`), and when its source last confirmed it. */
export type PolicyHead = { tenant: string; epoch: number; hash: Digest; confirmedAtMs: number };
