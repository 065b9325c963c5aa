import type { Digest } from '@countersign/contracts';
import type { CompiledPolicy } from '@countersign/policy';

/** A bundle in memory, compiled. Its head shows whether it is signed. */
export type LoadedPolicy = { policy: CompiledPolicy; hash: Digest; epoch: number };
