import { describe, expect, it } from '@jest/globals';
import { cosignNote, encodeBase64, formatCheckpoint, noteKey, signNote } from '../src/index.ts';
import { assertExtends, formatSubmission, openSubmission, SubmissionRefused } from '../src/index.ts';
import { nodeProvider as provider } from '../src/node.ts';
import { createSigner } from '../src/signing.ts';
import { naiveConsistency, naiveRoot } from './naive-merkle.ts';

const origin = 'log.example/a';
const signer = createSigner(new Uint8Array(32).fill(1));
const stranger = createSigner(new Uint8Array(32).fill(2));
const logs = [noteKey(provider, origin, signer.publicKey)];
const entries = (size: number, branch = 'a') =>
  Array.from({ length: size }, (_, at) => Buffer.from(at < 2 ? `entry ${at}` : `entry ${at} of ${branch}`));
const rootOf = (size: number, branch?: string) => Uint8Array.from(naiveRoot(entries(size, branch)));
const noteOf = (size: number, { branch = 'a', by = signer, name = origin } = {}) =>
  signNote(provider, formatCheckpoint({ origin: name, size, root: rootOf(size, branch) }), [{ name, signer: by }]);
const proofOf = (from: number, to: number, branch?: string) =>
  naiveConsistency(from, entries(to, branch)).map((hash) => encodeBase64(hash));

const opened = (body: string) => openSubmission(provider, body, logs);
const submitted = (old: number, size: number, { branch = 'a', proof = proofOf(old, size, branch) } = {}) =>
  opened(formatSubmission({ old, proof, note: noteOf(size, { branch }) }));
const seen = (size: number) => ({ size, root: rootOf(size) });

function refusal(run: () => unknown): [number, number | null] {
  try {
    run();
  } catch (error) {
    if (error instanceof SubmissionRefused) return [error.status, error.size];
    throw error;
  }
  return [200, null];
}

describe('a submission to a witness', () => {
  it('can be read as written, and keeps only the signatures of known keys', () => {
    const note = noteOf(5);
    const others = cosignNote(provider, note, { name: 'w.example', signer: stranger, seconds: 7 });
    const proof = proofOf(2, 5);
    const read = opened(formatSubmission({ old: 2, proof, note: `${note}${others}` }));
    expect(read).toMatchObject({ origin, old: 2, head: { size: 5, root: rootOf(5) }, note });
    expect(read.proof.map((hash) => encodeBase64(hash))).toEqual(proof);
  });

  const note = noteOf(5);
  it.each([
    ['is empty', '', 400],
    ['has no old size', `\n\n${note}`, 400],
    ['has an old size with a leading zero', `old 02\n\n${note}`, 400],
    ['has a negative old size', `old -1\n\n${note}`, 400],
    ['has an old size that is too large', `old 99999999999999999999\n\n${note}`, 400],
    ['has an old size above the size of the checkpoint', `old 6\n\n${note}`, 400],
    ['has no checkpoint', 'old 0\n\n', 400],
    ['has a hash that is too short', `old 2\nAAAA\n\n${note}`, 400],
    ['has a hash that is not base64', `old 2\n${'*'.repeat(44)}\n\n${note}`, 400],
    ['has 64 hashes', `old 2\n${`${encodeBase64(new Uint8Array(32))}\n`.repeat(64)}\n${note}`, 400],
    ['has a checkpoint without a root', `old 0\n\n${origin}\n5\n\n${note.split('\n\n')[1]}`, 400],
    ['is of an unknown log', `old 0\n\n${noteOf(5, { name: 'log.example/b' })}`, 404],
    ['is signed by another key of the same name', `old 0\n\n${noteOf(5, { by: stranger })}`, 403],
    ['has a changed size', `old 0\n\n${note.replace('\n5\n', '\n6\n')}`, 403],
  ])('that %s is refused', (_, body, status) => {
    expect(refusal(() => opened(body))).toEqual([status, null]);
  });
});

describe('a checkpoint that a witness is to cosign', () => {
  it('is accepted as the first one, as an extension of a smaller tree, and as the same tree', () => {
    assertExtends(provider, submitted(0, 5, { proof: [] }), null);
    for (const from of [1, 2, 3, 4, 5, 6, 7]) assertExtends(provider, submitted(from, 7), seen(from));
  });

  it.each([
    ['with the size 0 for a witness that cosigned 5', () => submitted(0, 7, { proof: [] }), 5, [409, 5]],
    ['with a size that it did not cosign', () => submitted(4, 7), 5, [409, 5]],
    ['with a smaller tree, as after a rollback', () => submitted(3, 4), 5, [409, 5]],
    ['with another tree of the same size', () => submitted(5, 5, { branch: 'b' }), 5, [422, null]],
    ['with a tree that has another history', () => submitted(5, 7, { branch: 'b' }), 5, [422, null]],
    ['without a proof', () => submitted(5, 7, { proof: [] }), 5, [422, null]],
    ['with a proof at the same size', () => submitted(5, 5, { proof: proofOf(2, 5) }), 5, [422, null]],
    ['with a proof for the old size 0', () => submitted(0, 5, { proof: proofOf(2, 5) }), null, [422, null]],
  ])('is refused %s', (_, submission, last, expected) => {
    expect(refusal(() => assertExtends(provider, submission(), last === null ? null : seen(last)))).toEqual(expected);
  });

  it('is refused for an empty tree with a root', () => {
    const text = formatCheckpoint({ origin, size: 0, root: rootOf(5) });
    const empty = signNote(provider, text, [{ name: origin, signer }]);
    expect(refusal(() => assertExtends(provider, opened(`old 0\n\n${empty}`), null))).toEqual([422, null]);
  });
});
