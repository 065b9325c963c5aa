import { decodeBase64 } from './base64.ts';
import { equalBytes } from './bytes.ts';
import { parseCheckpoint } from './checkpoint.ts';
import { CryptoError } from './crypto-error.ts';
import { emptyRoot, hashBytes } from './merkle-tree.ts';
import { verifyConsistency } from './merkle-verify.ts';
import type { NoteKey } from './note-key.ts';
import type { CryptoProvider } from './provider.ts';
import { openNote, splitNote } from './signed-note.ts';

/** The limit of the standard: the height of the largest tree. */
const proofHashesMax = 63;

/** The size and the root of one tree of a log. */
export interface TreeHead {
  size: number;
  root: Uint8Array;
}

/** A submitted checkpoint with a valid signature of its log. */
export interface SignedSubmission {
  origin: string;
  /** The size of the last checkpoint that the witness cosigned, as the log states it. */
  old: number;
  proof: readonly Uint8Array[];
  head: TreeHead;
  /** The signed text. */
  text: string;
  /** The text with the signatures of known keys only. */
  note: string;
}

/**
 * `status` is the HTTP status that the standard assigns. `size` is the last size that the witness cosigned, for status
 * 409.
 */
export class SubmissionRefused extends Error {
  override readonly name = 'SubmissionRefused';
  readonly status: 400 | 403 | 404 | 409 | 422;
  readonly size: number | null;

  constructor(status: SubmissionRefused['status'], message: string, size: number | null = null) {
    super(message);
    this.status = status;
    this.size = size;
  }
}

/** The body of `add-checkpoint` (c2sp.org/tlog-witness). `proof` contains hashes in base64. */
export function formatSubmission({
  old,
  proof,
  note,
}: {
  old: number;
  proof: readonly string[];
  note: string;
}): string {
  return [`old ${old}`, ...proof, '', note].join('\n');
}

/**
 * Reads an attacker-controlled body of `add-checkpoint`. `logs` contains the keys of the known logs. Throws {@link
 * SubmissionRefused}.
 */
export function openSubmission(provider: CryptoProvider, body: string, logs: readonly NoteKey[]): SignedSubmission {
  const { old, proof, note } = readable(() => splitBody(body));
  const { origin, size, root } = readable(() => parseCheckpoint(splitNote(note).text));
  const keys = logs.filter(({ name }) => name === origin);
  if (keys.length === 0) throw new SubmissionRefused(404, 'this witness does not know the log');
  const { text, signedBy } = signed(() => openNote(provider, note, keys));
  if (old > size) throw new SubmissionRefused(400, 'the old size is larger than the size of the checkpoint');
  return { origin, old, proof, head: { size, root }, text, note: withSignaturesOf(note, text, signedBy) };
}

/**
 * Returns if a witness whose last cosigned tree is `seen` may cosign this checkpoint. `seen` is `null` when the witness
 * has not cosigned this log before. Throws {@link SubmissionRefused}.
 */
export function assertExtends(provider: CryptoProvider, submission: SignedSubmission, seen: TreeHead | null): void {
  const { old, proof, head } = submission;
  const last = seen?.size ?? 0;
  if (old !== last)
    throw new SubmissionRefused(409, 'the old size is not the size that this witness cosigned last', last);
  if (head.size === 0 && !equalBytes(head.root, emptyRoot(provider)))
    throw new SubmissionRefused(422, 'the root is not the root of an empty tree');
  if (seen === null || last === 0) {
    if (proof.length > 0) throw new SubmissionRefused(422, 'a proof from an empty tree must have no hashes');
    return;
  }
  try {
    verifyConsistency(provider, { from: last, to: head.size, fromRoot: seen.root, toRoot: head.root, proof });
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    throw new SubmissionRefused(422, error.message);
  }
}

function splitBody(body: string): { old: number; proof: Uint8Array[]; note: string } {
  const separator = body.indexOf('\n\n');
  if (separator === -1) throw new CryptoError('MALFORMED_NOTE', 'no checkpoint');
  const [first = '', ...lines] = body.slice(0, separator).split('\n');
  const [, digits] = /^old (0|[1-9][0-9]*)$/.exec(first) ?? [];
  const old = Number(digits);
  if (!Number.isSafeInteger(old)) throw new CryptoError('MALFORMED_NOTE', 'the first line is not the old size');
  if (lines.length > proofHashesMax) throw new CryptoError('MALFORMED_NOTE', `more than ${proofHashesMax} hashes`);
  return { old, proof: lines.map(hashOf), note: body.slice(separator + 2) };
}

function hashOf(line: string): Uint8Array {
  const hash = decodeBase64(line);
  if (hash.length !== hashBytes) throw new CryptoError('MALFORMED_NOTE', 'a hash does not have 32 bytes');
  return hash;
}

function withSignaturesOf(note: string, text: string, keys: readonly NoteKey[]): string {
  const lines = note.slice(text.length + 1, -1).split('\n');
  const kept = keys.flatMap(({ name, keyId }) => {
    const place = splitNote(note).signatures.findIndex((each) => each.name === name && each.keyId === keyId);
    return lines.slice(place, place + 1);
  });
  return `${text}\n${kept.map((line) => `${line}\n`).join('')}`;
}

function readable<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    throw new SubmissionRefused(400, error.message);
  }
}

/** The note was parsed before, so an error here concerns its signatures. */
function signed<Value>(open: () => Value): Value {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    throw new SubmissionRefused(403, error.message);
  }
}
