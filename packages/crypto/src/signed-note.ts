import { decodeBase64, encodeBase64 } from './base64.ts';
import { concatBytes, utf8Bytes, utf8Text } from './bytes.ts';
import { CryptoError } from './crypto-error.ts';
import { decodeHex, encodeHex } from './hex.ts';
import { isNoteKeyName, noteKey } from './note-key.ts';
import type { NoteKey } from './note-key.ts';
import type { CryptoProvider } from './provider.ts';
import type { Signer } from './signer.ts';

/** The standard requires at least 16. The limit bounds the number of verifications that a hostile note can cause. */
const noteSignaturesMax = 100;

const keyIdBytes = 4;

interface OpenedNote {
  /** The signed text, final newline included. */
  text: string;
  /** The known keys whose signatures verified, at least one. */
  signedBy: NoteKey[];
}

interface NoteSignature {
  name: string;
  keyId: string;
  signature: Uint8Array;
}

/**
 * c2sp.org/signed-note with one Ed25519 signature per signer. Throws `MALFORMED_NOTE` or, for a bad name or key,
 * `MALFORMED_KEY`.
 */
export function signNote(
  provider: CryptoProvider,
  text: string,
  signers: readonly { name: string; signer: Pick<Signer, 'publicKey' | 'sign'> }[],
): string {
  assertNoteText(text);
  if (signers.length === 0) throw malformed('a note needs a signature');
  const lines = signers.map(({ name, signer }) => {
    const { keyId } = noteKey(provider, name, signer.publicKey);
    return `— ${name} ${encodeBase64(concatBytes(decodeHex(keyId), signer.sign(utf8Bytes(text))))}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/**
 * Opens an attacker-controlled note. Signatures of unknown keys are ignored. The note is rejected if the first
 * signature of a known key (same name and id) does not verify. Throws `MALFORMED_NOTE`, `INVALID_UTF8`,
 * `NOTE_SIGNATURE_INVALID` or `NOTE_NOT_SIGNED_BY_KNOWN_KEY`.
 */
export function openNote(
  provider: CryptoProvider,
  note: string | Uint8Array,
  knownKeys: readonly NoteKey[],
): OpenedNote {
  const { text, signatures } = splitNote(typeof note === 'string' ? note : utf8Text(note));
  const message = utf8Bytes(text);
  const signedBy: NoteKey[] = [];
  for (const { name, keyId, signature } of signatures) {
    const key = knownKeys.find((candidate) => candidate.name === name && candidate.keyId === keyId);
    // Only the first signature of each key is verified, so that a long note cannot cause many verifications.
    if (key === undefined || signedBy.includes(key)) continue;
    if (!provider.verifyEd25519(key.publicKey, message, signature))
      throw new CryptoError('NOTE_SIGNATURE_INVALID', `signature of ${name} does not verify`);
    signedBy.push(key);
  }
  if (signedBy.length === 0) throw new CryptoError('NOTE_NOT_SIGNED_BY_KNOWN_KEY', 'no signature of a known key');
  return { text, signedBy };
}

/** The text and the signatures of an attacker-controlled note. Nothing is verified yet. Throws `MALFORMED_NOTE`. */
export function splitNote(note: string): { text: string; signatures: NoteSignature[] } {
  const separator = note.lastIndexOf('\n\n'); // the text itself can contain empty lines
  if (separator === -1 || !note.endsWith('\n')) throw malformed('no signature block');
  const text = note.slice(0, separator + 1);
  assertNoteText(text);
  const lines = note.slice(separator + 2, -1).split('\n');
  if (lines.length > noteSignaturesMax) throw malformed(`more than ${noteSignaturesMax} signatures`);
  return { text, signatures: lines.map(parseSignatureLine) };
}

function parseSignatureLine(line: string): NoteSignature {
  // Stryker disable next-line StringLiteral: Without a match, the name is one that a key cannot have.
  const [, name = '', encoded = ''] = /^— (\S+) (\S+)$/u.exec(line) ?? [];
  if (!isNoteKeyName(name)) throw malformed('malformed signature line');
  const bytes = decodeSignature(encoded);
  if (bytes.length <= keyIdBytes) throw malformed('signature without content');
  return { name, keyId: encodeHex(bytes.subarray(0, keyIdBytes)), signature: bytes.subarray(keyIdBytes) };
}

function decodeSignature(encoded: string): Uint8Array {
  try {
    return decodeBase64(encoded);
  } catch {
    throw malformed('signature is not base64');
  }
}

function assertNoteText(text: string): void {
  if (!text.endsWith('\n')) throw malformed('text does not end with a newline');
  // eslint-disable-next-line no-control-regex -- notes forbid lone surrogates, and control characters but newline
  if (/[\u0000-\u0009\u000b-\u001f]|\p{Cs}/u.test(text))
    throw malformed('text holds control characters or lone surrogates');
}

function malformed(message: string): CryptoError {
  return new CryptoError('MALFORMED_NOTE', message);
}
