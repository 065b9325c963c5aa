import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  formatCheckpoint,
  formatTlogProof,
  formatVkey,
  inclusionProof,
  leafHash,
  noteKey,
  openNote,
  parseCheckpoint,
  parseTlogProof,
  parseVkey,
  portableProvider,
  rootOf,
  signNote,
  utf8Bytes,
  verifyInclusion,
} from '../src/index.ts';
import { nodeProvider } from '../src/node.ts';
import { createSigner } from '../src/signing.ts';
import { flipBit, refusal } from './vector-files.ts';

const log = { name: 'log.example/acme', signer: createSigner(new Uint8Array(32).fill(1)) };
const witness = { name: 'witness.example', signer: createSigner(new Uint8Array(32).fill(2)) };
const logKey = noteKey(nodeProvider, log.name, log.signer.publicKey);
const witnessKey = noteKey(nodeProvider, witness.name, witness.signer.publicKey);
const root = nodeProvider.sha256(utf8Bytes('root'));
const note = signNote(nodeProvider, formatCheckpoint({ origin: log.name, size: 42, root }), [log, witness]);

describe('a signed note', () => {
  it('of golang.org/x/mod/sumdb/note opens, and its key is formatted as published', () => {
    const vkey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
    const text =
      "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
    const signature = 'x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=';
    for (const provider of [portableProvider, nodeProvider]) {
      const key = parseVkey(provider, vkey);
      expect(formatVkey(key)).toBe(vkey);
      expect(openNote(provider, `${text}\n— PeterNeumann ${signature}\n`, [key]).text).toBe(text);
    }
  });

  it('opens with one known key, and lists all known keys that signed it', () => {
    expect(openNote(nodeProvider, note, [witnessKey]).signedBy).toEqual([witnessKey]);
    expect(openNote(nodeProvider, utf8Bytes(note), [witnessKey, logKey]).signedBy).toEqual([logKey, witnessKey]);
  });

  it('ignores signatures of unknown keys, even of the same name, and needs one of a known key', () => {
    const stranger = noteKey(nodeProvider, log.name, witness.signer.publicKey);
    expect(refusal(() => openNote(nodeProvider, note, [stranger])).code).toBe('NOTE_NOT_SIGNED_BY_KNOWN_KEY');
    expect(refusal(() => openNote(nodeProvider, note, [])).code).toBe('NOTE_NOT_SIGNED_BY_KNOWN_KEY');
    expect(openNote(nodeProvider, note, [stranger, logKey]).signedBy).toEqual([logKey]);
  });

  it('is rejected when the signature of one known key fails, even if another verifies', () => {
    const forged = signNote(nodeProvider, 'text\n', [
      log,
      { ...witness, signer: { ...witness.signer, sign: () => new Uint8Array(64) } },
    ]);
    expect(openNote(nodeProvider, forged, [logKey]).signedBy).toEqual([logKey]);
    expect(refusal(() => openNote(nodeProvider, forged, [logKey, witnessKey])).code).toBe('NOTE_SIGNATURE_INVALID');
  });

  it('is refused after any flipped bit of its text or of the only signature', () => {
    const single = utf8Bytes(signNote(nodeProvider, 'log.example\n7\n', [log]));
    fc.assert(
      fc.property(fc.nat(single.length * 8 - 1), (bit) => {
        expect(refusal(() => openNote(nodeProvider, flipBit(single, bit), [logKey])).code).toMatch(
          /^(NOTE_SIGNATURE_INVALID|NOTE_NOT_SIGNED_BY_KNOWN_KEY|MALFORMED_NOTE|INVALID_UTF8)$/,
        );
      }),
      { numRuns: 400 },
    );
  });

  it('may contain empty lines: the last one precedes the signatures', () => {
    const text = 'a\n\n— not a signature\n\nb\n';
    expect(openNote(nodeProvider, signNote(nodeProvider, text, [log]), [logKey]).text).toBe(text);
  });

  it('accepts at most 100 signatures', () => {
    const lines = note.slice(note.lastIndexOf('\n\n') + 2);
    const [line = ''] = lines.split('\n');
    expect(openNote(nodeProvider, note + lines.repeat(49), [logKey]).signedBy).toEqual([logKey]);
    const flooded = `${note}${lines.repeat(49)}${line}\n`;
    expect(refusal(() => openNote(nodeProvider, flooded, [logKey])).code).toBe('MALFORMED_NOTE');
  });

  it('verifies only the first signature of each key', () => {
    let verified = 0;
    const counting = {
      ...nodeProvider,
      verifyEd25519: (...args: Parameters<typeof nodeProvider.verifyEd25519>) => {
        verified += 1;
        return nodeProvider.verifyEd25519(...args);
      },
    };
    openNote(counting, note + note.slice(note.lastIndexOf('\n\n') + 2).repeat(49), [logKey]);
    expect(verified).toBe(1);
  });

  it.each([
    ['no signature', 'text\n'],
    ['no text', '\n— log.example/acme AAAAAAA=\n'],
    ['no final newline', note.slice(0, -1)],
    ['a carriage return', note.replaceAll('\n', '\r\n')],
    ['a hyphen instead of the dash', note.replaceAll('—', '-')],
    ['two spaces', note.replace('— log', '—  log')],
    ['a signature that is not base64', note.replace(/acme .+\n/, 'acme ***\n')],
    ['a key ID without a signature', note.replace(/acme .+\n/, 'acme AAAAAA==\n')],
    ['an empty line at the end', `${note}\n`],
    ['text before the dash', note.replace('— log', 'x— log')],
    ['text after the signature', note.replace(/(acme .+)\n/, '$1 more\n')],
  ])('with %s is malformed', (_what, malformed) => {
    expect(refusal(() => openNote(nodeProvider, malformed, [logKey])).code).toBe('MALFORMED_NOTE');
  });

  it('is not signed over an invalid text or under an invalid name', () => {
    for (const text of ['', 'no newline', 'tab\there\n', 'lone \ud800\n'])
      expect(refusal(() => signNote(nodeProvider, text, [log])).code).toBe('MALFORMED_NOTE');
    const controls = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).filter((one) => one !== '\n');
    for (const control of controls)
      expect(refusal(() => signNote(nodeProvider, `a${control}b\n`, [log])).code).toBe('MALFORMED_NOTE');
    expect(openNote(nodeProvider, signNote(nodeProvider, 'a b\u007f\n', [log]), [logKey]).text).toBe('a b\u007f\n');
    expect(refusal(() => signNote(nodeProvider, 'text\n', [])).code).toBe('MALFORMED_NOTE');
    for (const name of ['', 'a b', 'a+b', '+a', 'a ', 'a\u00a0b', 'a\nb', 'a\u0007b', 'a\ud800b'])
      expect(refusal(() => signNote(nodeProvider, 'text\n', [{ ...log, name }])).code).toBe('MALFORMED_KEY');
  });

  it.each([
    '',
    'name',
    'a+00000000+AQ==',
    `${formatVkey(logKey)}=`,
    formatVkey(logKey).replace('acme', 'evil'),
    formatVkey(logKey).replace(/(\+[0-9a-f]{8}\+)A/, '$1B'),
    formatVkey(logKey).replace(/\+[0-9a-f]{8}\+/, (keyId) => keyId.toUpperCase()),
    `+${formatVkey(logKey)}`,
    `more+${formatVkey(logKey)}`,
    `${formatVkey(logKey)}\n`,
  ])('cannot be opened with the malformed verifier key %j', (vkey) => {
    expect(refusal(() => parseVkey(nodeProvider, vkey)).code).toBe('MALFORMED_KEY');
  });
});

it('a key of small order is refused as a note key', () => {
  expect(refusal(() => noteKey(nodeProvider, log.name, new Uint8Array(32))).code).toBe('MALFORMED_KEY');
});

describe('a checkpoint', () => {
  it('has no time if the note has none', () => {
    const { text } = openNote(nodeProvider, note, [logKey]);
    expect(Object.keys(parseCheckpoint(text))).toEqual(['origin', 'size', 'root']);
  });

  it('can be read from its signed note', () => {
    expect(parseCheckpoint(openNote(nodeProvider, note, [logKey]).text)).toEqual({ origin: log.name, size: 42, root });
    expect(formatCheckpoint({ origin: log.name, size: 42, root })).toMatch(
      /^log\.example\/acme\n42\n[A-Za-z0-9+/]{43}=\n$/,
    );
  });

  it('may carry extension lines, which are ignored', () => {
    expect(parseCheckpoint(`${formatCheckpoint({ origin: 'o', size: 0, root })}extension\n`).size).toBe(0);
  });

  it('has its time on a separate line', () => {
    const time = '2026-03-01T12:00:00.000Z';
    const timed = formatCheckpoint({ origin: 'o', size: 1, root, time });
    expect(parseCheckpoint(timed)).toEqual({ origin: 'o', size: 1, root, time });
    expect(timed.split('\n').slice(3)).toEqual([`countersign.time ${time}`, '']);
    const bare = formatCheckpoint({ origin: 'o', size: 1, root });
    for (const line of ['x countersign.time 1', 'countersign.time 1 2', 'countersign.time', 'countersign_time 1'])
      expect(parseCheckpoint(`${bare}${line}\n`)).toEqual({ origin: 'o', size: 1, root });
    expect(refusal(() => parseCheckpoint(`${timed}countersign.time ${time}\n`)).code).toBe('MALFORMED_CHECKPOINT');
  });

  it.each([
    ['no origin', '\n1\nROOT\n'],
    ['a leading zero', 'o\n01\nROOT\n'],
    ['a negative size', 'o\n-1\nROOT\n'],
    ['a size with a unit', 'o\n1x\nROOT\n'],
    ['a size in hexadecimal', 'o\n0x1\nROOT\n'],
    ['a size beyond 2^53 - 1', 'o\n9007199254740992\nROOT\n'],
    ['a root that is too short', 'o\n1\nAAAA\n'],
    ['a root that is not base64', 'o\n1\n!!!\n'],
    ['no final newline', 'o\n1\nROOT'],
    ['an empty extension line', 'o\n1\nROOT\n\n'],
    ['two lines', 'o\n1\n'],
  ])('with %s is malformed', (_what, template) => {
    const text = template.replace('ROOT', Buffer.from(root).toString('base64'));
    expect(refusal(() => parseCheckpoint(text)).code).toBe('MALFORMED_CHECKPOINT');
  });

  it('is not written from values that could not be read again', () => {
    for (const wrong of [{ origin: '' }, { origin: 'a\nb' }, { size: -1 }, { size: 1.5 }, { root: root.slice(1) }])
      expect(refusal(() => formatCheckpoint({ origin: 'o', size: 1, root, ...wrong })).code).toBe(
        'MALFORMED_CHECKPOINT',
      );
  });
});

describe('a tlog-proof', () => {
  const leaves = ['a', 'b', 'c', 'd', 'e'].map((entry) => leafHash(nodeProvider, utf8Bytes(entry)));

  it('contains everything that an offline verifier needs', async () => {
    const treeRoot = rootOf(nodeProvider, leaves);
    const checkpoint = signNote(nodeProvider, formatCheckpoint({ origin: log.name, size: 5, root: treeRoot }), [log]);
    const readLeavesOrPairs = async (level: number, index: number) =>
      rootOf(nodeProvider, leaves.slice(index * 2 ** level, (index + 1) * 2 ** level));
    const proof = await inclusionProof(nodeProvider, readLeavesOrPairs, { index: 4, size: 5 });
    const text = formatTlogProof({ index: 4, proof, checkpoint, extra: utf8Bytes('receipt') });

    const parsed = parseTlogProof(text);
    const { size, root: provenRoot } = parseCheckpoint(openNote(portableProvider, parsed.checkpoint, [logKey]).text);
    verifyInclusion(portableProvider, {
      ...parsed,
      size,
      root: provenRoot,
      leafHash: leafHash(portableProvider, utf8Bytes('e')),
    });
    expect(parsed.extra).toEqual(utf8Bytes('receipt'));
    expect(text.split('\n').slice(0, 3)).toEqual(['c2sp.org/tlog-proof@v1', 'extra cmVjZWlwdA==', 'index 4']);
  });

  it('needs no hashes in a tree of one leaf', () => {
    const text = formatTlogProof({ index: 0, proof: [], checkpoint: note });
    expect(text.startsWith('c2sp.org/tlog-proof@v1\nindex 0\n\nlog.example/acme\n')).toBe(true);
    expect(parseTlogProof(text)).toEqual({ index: 0, proof: [], checkpoint: note });
    const deepest = formatTlogProof({ index: 12, proof: Array<Uint8Array>(63).fill(root), checkpoint: note });
    expect(parseTlogProof(deepest)).toMatchObject({ index: 12, proof: { length: 63 } });
  });

  it.each([
    ['a different version', 'c2sp.org/tlog-proof@v2\nindex 0\n\nx\n'],
    ['no index', 'c2sp.org/tlog-proof@v1\n\nx\n'],
    ['a leading zero', 'c2sp.org/tlog-proof@v1\nindex 01\n\nx\n'],
    ['text before the index', 'c2sp.org/tlog-proof@v1\nxindex 1\n\nx\n'],
    ['text after the index', 'c2sp.org/tlog-proof@v1\nindex 1x\n\nx\n'],
    ['an index beyond 2^53 - 1', 'c2sp.org/tlog-proof@v1\nindex 9007199254740992\n\nx\n'],
    ['an extra line after the index', 'c2sp.org/tlog-proof@v1\nindex 0\nextra AA==\n\nx\n'],
    ['an extra line that is not base64', 'c2sp.org/tlog-proof@v1\nextra !\nindex 0\n\nx\n'],
    ['a short hash', 'c2sp.org/tlog-proof@v1\nindex 0\nAAAA\n\nx\n'],
    ['64 hashes', `c2sp.org/tlog-proof@v1\nindex 0\n${`${'A'.repeat(43)}=\n`.repeat(64)}\nx\n`],
    ['no checkpoint', 'c2sp.org/tlog-proof@v1\nindex 0\n\n'],
    ['no empty line', 'c2sp.org/tlog-proof@v1\nindex 0\n'],
  ])('with %s is malformed', (_what, text) => {
    expect(refusal(() => parseTlogProof(text)).code).toBe('MALFORMED_TLOG_PROOF');
  });
});
