import type { PlainJson } from '@countersign/contracts';
import { recordedFactBytesMax, type RecordedIntent } from '@countersign/contracts/governance-kernel';
import { canonicalize, utf8Bytes, type CryptoProvider } from '@countersign/crypto';
import { saltedBytesHash } from './hashes.ts';

export type RecordedFacts = Pick<RecordedIntent, 'facts' | 'capped_facts'>;

/** The most bytes that a character of a string, as JavaScript counts them, takes in canonical JSON: `\u0001`. */
const bytesPerCharacterMax = 6;

/**
 * The facts that a policy read, as a record keeps them. A fact above the cap is kept as the hash and length of its
 * canonical JSON, under `capped_facts`, which contains no value of a caller. No value can therefore pass for a hash,
 * and a binding of the hash binds the whole value. Salted like `args_hash`: a long text may differ from a known one in
 * a few characters, which could be guessed.
 */
export function recordedFacts(
  provider: CryptoProvider,
  salt: Uint8Array,
  read: Readonly<Record<string, PlainJson>>,
): RecordedFacts {
  const facts: Record<string, PlainJson> = {};
  const capped: NonNullable<RecordedFacts['capped_facts']> = {};
  for (const [path, value] of Object.entries(read)) {
    const bytes = isSmall(value) ? null : utf8Bytes(canonicalize(value));
    if (bytes === null || bytes.length <= recordedFactBytesMax) facts[path] = value;
    else capped[path] = { hash: saltedBytesHash(provider, salt, bytes), bytes: bytes.length };
  }
  return Object.keys(capped).length === 0 ? { facts } : { facts, capped_facts: capped };
}

/** Without looking at all of it. */
function isSmall(value: PlainJson): boolean {
  if (typeof value === 'string') return value.length * bytesPerCharacterMax + 2 <= recordedFactBytesMax;
  return typeof value !== 'object' || value === null;
}
