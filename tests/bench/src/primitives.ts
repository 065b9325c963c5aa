import { createHash } from 'node:crypto';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { medianOf } from './median.ts';

/** The cost of the primitives of a decision on this machine, in microseconds. */
export type Primitives = { signature_micros: number; sha256_of_1_kib_micros: number };

const repetitions = 2_000;
const rounds = 5;

/** Measured alone, with the library of the kernel. */
export function measurePrimitives(): Primitives {
  const signer = createSigner(generateSigningKey().privateKeyPem);
  const data = Buffer.alloc(1_024, 'a');
  return {
    signature_micros: microsOf(() => signer.sign(data)),
    sha256_of_1_kib_micros: microsOf(() => createHash('sha256').update(data).digest()),
  };
}

function microsOf(work: () => unknown): number {
  const once = () => {
    const startedAt = performance.now();
    for (let repetition = 0; repetition < repetitions; repetition += 1) work();
    return ((performance.now() - startedAt) * 1_000) / repetitions;
  };
  once(); // the first round compiles
  return medianOf(Array.from({ length: rounds }, once));
}
