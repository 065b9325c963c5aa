import { decodeBase64, encodeBase64 } from './base64.ts';
import { concatBytes, utf8Bytes } from './bytes.ts';
import { CryptoError } from './crypto-error.ts';
import { isAcceptablePublicKey } from './ed25519.ts';
import { encodeHex } from './hex.ts';
import type { CryptoProvider } from './provider.ts';

/** Signature type identifiers of c2sp.org/signed-note and c2sp.org/tlog-cosignature. Both types use Ed25519 keys. */
const noteType = 0x01;
const cosignatureType = 0x04;

/** A named Ed25519 key of signed notes. `keyId` has eight hex digits and is only a hint. */
export interface NoteKey {
  readonly name: string;
  readonly keyId: string;
  readonly publicKey: Uint8Array;
}

/** Throws `MALFORMED_KEY` for a name that is invalid in notes, or a key that enrolment refuses. */
export function noteKey(provider: CryptoProvider, name: string, publicKey: Uint8Array): NoteKey {
  return keyOfType(provider, noteType, { name, publicKey });
}

/** The key of a witness, whose signatures have another format (`openCosignatures`). Throws like {@link noteKey}. */
export function cosignerKey(provider: CryptoProvider, name: string, publicKey: Uint8Array): NoteKey {
  return keyOfType(provider, cosignatureType, { name, publicKey });
}

/** `name+keyid+base64(0x01 ‖ public key)`: the format of trusted keys in the configuration of a verifier. */
export function formatVkey(key: NoteKey): string {
  return vkeyOfType(noteType, key);
}

/** Like {@link formatVkey}, for the key of a witness (type 0x04). */
export function formatCosignerVkey(key: NoteKey): string {
  return vkeyOfType(cosignatureType, key);
}

/** Throws `MALFORMED_KEY`, also when the key id does not match the key. */
export function parseVkey(provider: CryptoProvider, vkey: string): NoteKey {
  return parseOfType(provider, noteType, vkey);
}

/** Like {@link parseVkey}, for the key of a witness. */
export function parseCosignerVkey(provider: CryptoProvider, vkey: string): NoteKey {
  return parseOfType(provider, cosignatureType, vkey);
}

function keyOfType(provider: CryptoProvider, type: number, { name, publicKey }: Omit<NoteKey, 'keyId'>): NoteKey {
  if (!isNoteKeyName(name))
    throw malformed('the key name is empty or contains white space, +, control characters or lone surrogates');
  if (!isAcceptablePublicKey(publicKey))
    throw malformed('the public key is not canonical, not on the curve, or of small order');
  const preimage = concatBytes(utf8Bytes(`${name}\n`), Uint8Array.of(type), publicKey);
  return { name, keyId: encodeHex(provider.sha256(preimage).subarray(0, 4)), publicKey };
}

function vkeyOfType(type: number, { name, keyId, publicKey }: NoteKey): string {
  return `${name}+${keyId}+${encodeBase64(concatBytes(Uint8Array.of(type), publicKey))}`;
}

function parseOfType(provider: CryptoProvider, type: number, vkey: string): NoteKey {
  const [, name = '', keyId, encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? [];
  const typed = decodeTypedKey(encoded);
  if (typed[0] !== type) throw malformed(`not an Ed25519 verifier key of the type ${type}`);
  const key = keyOfType(provider, type, { name, publicKey: typed.subarray(1) });
  if (key.keyId !== keyId) throw malformed('the key id does not match the key');
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
