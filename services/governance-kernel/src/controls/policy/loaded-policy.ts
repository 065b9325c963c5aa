import type { Digest } from '@countersign/contracts';
import type { CompiledPolicy } from '@countersign/policy';

/** A compiled bundle in memory. Its signature is in its `PolicyHead` and is verified there, not here. */
export type LoadedPolicy = { policy: CompiledPolicy; hash: Digest; epoch: number };
