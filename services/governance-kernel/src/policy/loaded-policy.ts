import type { Digest } from '@countersign/contracts';
import type { CompiledPolicy } from '@countersign/policy';

/** A bundle in memory, compiled, with what was found about its signature when it was loaded. */
export type LoadedPolicy = { policy: CompiledPolicy; hash: Digest; epoch: number; signatureValid: boolean };
