import { describe, expect, it } from '@jest/globals';
import {
  cosignerKey,
  cosignNote,
  decodeBase64,
  decodeHex,
  encodeBase64,
  formatCosignerVkey,
  openCosignatures,
  openNote,
  noteKey,
  parseCosignerVkey,
  parseVkey,
  signNote,
} from '../src/index.ts';
import { nodeProvider as provider } from '../src/node.ts';
import { createSigner } from '../src/signing.ts';

const log = createSigner(decodeHex('c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7'));
const witness = createSigner(decodeHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'));
const name = 'witness.example/w1';
const key = cosignerKey(provider, name, witness.publicKey);
const text = 'log.example/1\n3\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n';
const note = signNote(provider, text, [{ name: 'log.example/1', signer: log }]);
const line = cosignNote(provider, note, { name, signer: witness, seconds: 1_679_315_147 });

describe('a cosignature', () => {
  it('is returned with its time, and the signature of the log stays valid', () => {
    expect(openCosignatures(provider, `${note}${line}`, [key])).toEqual([{ key, seconds: 1_679_315_147 }]);
    const logKey = noteKey(provider, 'log.example/1', log.publicKey);
    expect(openNote(provider, `${note}${line}`, [logKey]).text).toBe(text);
  });

  it('of an unknown witness is ignored, and each witness counts once', () => {
    expect(openCosignatures(provider, `${note}${line}`, [])).toEqual([]);
    const later = cosignNote(provider, note, { name, signer: witness, seconds: 1_679_315_999 });
    expect(openCosignatures(provider, `${note}${line}${later}`, [key])).toHaveLength(1);
  });

  it.each([
    ['a different time', (bytes: Uint8Array) => bytes.with(11, 0)],
    ['a different signature', (bytes: Uint8Array) => bytes.with(30, (bytes[30] ?? 0) ^ 1)],
    ['a time that is too large', (bytes: Uint8Array) => bytes.with(4, 0xff)],
    ['a truncated time', (bytes: Uint8Array) => bytes.subarray(0, 10)],
  ])('with %s rejects the note', (_, change) => {
    const [dash = '', signer = '', encoded = ''] = line.trim().split(' ');
    const changed = `${dash} ${signer} ${encodeBase64(change(decodeBase64(encoded)))}\n`;
    expect(() => openCosignatures(provider, `${note}${changed}`, [key])).toThrow(/does not verify/);
  });

  it('for another checkpoint rejects the note', () => {
    const larger = signNote(provider, text.replace('\n3\n', '\n4\n'), [{ name: 'log.example/1', signer: log }]);
    expect(() => openCosignatures(provider, `${larger}${line}`, [key])).toThrow(/does not verify/);
  });
});

describe('the verifier key of a witness', () => {
  it('has its own type, so a log key cannot be parsed from it', () => {
    const vkey = formatCosignerVkey(key);
    expect(parseCosignerVkey(provider, vkey)).toEqual(key);
    expect(() => parseVkey(provider, vkey)).toThrow(/verifier key/);
  });

  it('has a key id that differs from that of a log key with the same name and key', () => {
    expect(key.keyId).not.toBe(noteKey(provider, name, witness.publicKey).keyId);
  });
});
