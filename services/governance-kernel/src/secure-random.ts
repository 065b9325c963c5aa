import { randomFillSync } from 'node:crypto';

const blockBytes = 4_096;

/**
 * Bytes of the platform's secure source as fractions in [0, 1), drawn in blocks, since drawing single bytes would cost
 * more than hashing a receipt.
 */
export function secureRandom(): () => number {
  const block = new Uint8Array(blockBytes);
  let used = blockBytes;
  return () => {
    if (used === blockBytes) {
      randomFillSync(block);
      used = 0;
    }
    const byte = block[used] ?? 0; // `used` is below the length
    used += 1;
    return byte / 256;
  };
}
