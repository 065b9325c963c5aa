import type { Digest } from '@countersign/contracts';
import type { CompiledPolicy } from '@countersign/policy';

/** A bundle in memory, compiled. Whether anybody signed for it stands in its head. */
export type LoadedPolicy = { policy: CompiledPolicy; hash: Digest; epoch: number };
