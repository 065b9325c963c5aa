import { encodeBase64 } from './base64.ts';
import { concatBytes, utf8Bytes } from './bytes.ts';
import { CryptoError } from './crypto-error.ts';
import { decodeHex } from './hex.ts';
import { cosignerKey } from './note-key.ts';
import type { NoteKey } from './note-key.ts';
import type { CryptoProvider } from './provider.ts';
import { splitNote } from './signed-note.ts';
import type { Signer } from './signer.ts';

const timestampBytes = 8;
/** The end of the year 9999, the last instant that RFC 3339 can express. */
const secondsMax = 253_402_300_799;

/** Statement of a witness: at this time, the checkpoint had the largest tree that the witness had seen of the log. */
type Cosignature = { key: NoteKey; /** Seconds since the Epoch. */ seconds: number };

/**
 * The line that a witness adds to a checkpoint (c2sp.org/tlog-cosignature, version 1). Throws `MALFORMED_NOTE` or
 * `MALFORMED_KEY`.
 */
export function cosignNote(
  provider: CryptoProvider,
  note: string,
  { name, signer, seconds }: { name: string; signer: Pick<Signer, 'publicKey' | 'sign'>; seconds: number },
): string {
  const { keyId } = cosignerKey(provider, name, signer.publicKey);
  const signature = signer.sign(signedBytes(splitNote(note).text, seconds));
  return `— ${name} ${encodeBase64(concatBytes(decodeHex(keyId), timestampOf(seconds), signature))}\n`;
}

/**
 * Cosignatures of these witnesses on an attacker-controlled note, at most one for each witness. Signatures of other
 * keys are ignored. A note is rejected if the first signature of a listed witness does not verify. Throws
 * `MALFORMED_NOTE` or `NOTE_SIGNATURE_INVALID`.
 */
export function openCosignatures(provider: CryptoProvider, note: string, witnesses: readonly NoteKey[]): Cosignature[] {
  const { text, signatures } = splitNote(note);
  const opened: Cosignature[] = [];
  for (const { name, keyId, signature } of signatures) {
    const key = witnesses.find((candidate) => candidate.name === name && candidate.keyId === keyId);
    if (key === undefined || opened.some((cosignature) => cosignature.key === key)) continue;
    const seconds = secondsOf(signature);
    const bytes = signature.subarray(timestampBytes);
    if (seconds === null || !provider.verifyEd25519(key.publicKey, signedBytes(text, seconds), bytes))
      throw new CryptoError('NOTE_SIGNATURE_INVALID', `cosignature of ${name} does not verify`);
    opened.push({ key, seconds });
  }
  return opened;
}

function signedBytes(text: string, seconds: number): Uint8Array {
  return utf8Bytes(`cosignature/v1\ntime ${seconds}\n${text}`);
}

function timestampOf(seconds: number): Uint8Array {
  const bytes = new Uint8Array(timestampBytes);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(seconds));
  return bytes;
}

function secondsOf(signature: Uint8Array): number | null {
  if (signature.length < timestampBytes) return null;
  const seconds = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
  return seconds > BigInt(secondsMax) ? null : Number(seconds);
}
