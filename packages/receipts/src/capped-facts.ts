import type { PlainJson } from '@countersign/contracts';
import { recordedFactBytesMax, type RecordedIntent } from '@countersign/contracts/governance-kernel';
import { canonicalize, utf8Bytes, type CryptoProvider } from '@countersign/crypto';
import { saltedBytesHash } from './hashes.ts';

export type RecordedFacts = Pick<RecordedIntent, 'facts' | 'capped_facts'>;

/** Maximum length in canonical JSON of one UTF-16 code unit: `\u0001` has six bytes. */
const bytesPerCharacterMax = 6;

/**
 * The facts that a policy read, as a record stores them. A fact above the limit is stored as the hash and length of its
 * canonical JSON, under `capped_facts`. Callers cannot write to `capped_facts`, so no value can be mistaken for a hash.
 * Binding the hash binds the whole value. The hash is salted like `args_hash`, because a value that differs little from
 * a known text could be guessed.
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

/** Checks an upper bound first, so that small values are not serialised. */
function isSmall(value: PlainJson): boolean {
  if (typeof value === 'string') return value.length * bytesPerCharacterMax + 2 <= recordedFactBytesMax;
  return typeof value !== 'object' || value === null;
}
