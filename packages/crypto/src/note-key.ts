import { decodeBase64, encodeBase64 } from './base64.ts';
import { concatBytes, utf8Bytes } from './bytes.ts';
import { CryptoError } from './crypto-error.ts';
import { isAcceptablePublicKey } from './ed25519.ts';
import { encodeHex } from './hex.ts';
import type { CryptoProvider } from './provider.ts';

/** c2sp.org/signed-note, signature type identifier of Ed25519. */
const ed25519Type = Uint8Array.of(0x01);

/** A named Ed25519 key of signed notes; `keyId` is eight hex digits and only a hint. */
export interface NoteKey {
  readonly name: string;
  readonly keyId: string;
  readonly publicKey: Uint8Array;
}

/** Throws `MALFORMED_KEY` for a name that notes do not allow or a key that enrolment refuses. */
export function noteKey(provider: CryptoProvider, name: string, publicKey: Uint8Array): NoteKey {
  if (!isNoteKeyName(name)) throw malformed('key name is empty or holds white space, plus or control characters');
  if (!isAcceptablePublicKey(publicKey)) throw malformed('non-canonical or small-order public key');
  const preimage = concatBytes(utf8Bytes(`${name}\n`), ed25519Type, publicKey);
  return { name, keyId: encodeHex(provider.sha256(preimage).subarray(0, 4)), publicKey };
}

/** `name+keyid+base64(0x01 ‖ public key)`: the form in which a verifier is told whom to trust. */
export function formatVkey({ name, keyId, publicKey }: NoteKey): string {
  return `${name}+${keyId}+${encodeBase64(concatBytes(ed25519Type, publicKey))}`;
}

/** Throws `MALFORMED_KEY`, also when the key id does not belong to the key. */
export function parseVkey(provider: CryptoProvider, vkey: string): NoteKey {
  const [, name = '', keyId, encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? [];
  const typed = decodeTypedKey(encoded);
  if (typed[0] !== ed25519Type[0]) throw malformed('not an Ed25519 verifier key');
  const key = noteKey(provider, name, typed.subarray(1));
  if (key.keyId !== keyId) throw malformed('key id does not belong to the key');
  return key;
}

export function isNoteKeyName(name: string): boolean {
  return /^[^\s+\p{Cc}\p{Cs}]+$/u.test(name);
}

function decodeTypedKey(encoded: string): Uint8Array {
  try {
    return decodeBase64(encoded);
  } catch {
    throw malformed('not a verifier key');
  }
}

function malformed(message: string): CryptoError {
  return new CryptoError('MALFORMED_KEY', message);
}
