import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import {
  decodeBase64,
  decodeBase64Url,
  decodeHex,
  digestOf,
  encodeBase64,
  encodeBase64Url,
  encodeHex,
  equalBytes,
  portableProvider,
  utf8Bytes,
  utf8Text,
} from '../src/index.ts';
import { nodeProvider } from '../src/node.ts';
import { refusal } from './vector-files.ts';

describe('SHA-256', () => {
  it.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
  ])('of %j equals the FIPS 180-4 example with both providers', (text, digest) => {
    for (const provider of [portableProvider, nodeProvider])
      expect(digestOf(provider, utf8Bytes(text))).toBe(`sha256:${digest}`);
  });

  it('is the same in plain JavaScript and in OpenSSL, for all lengths around block boundaries', () => {
    const openssl = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    for (let length = 0; length < 260; length += 1) {
      const bytes = new Uint8Array(length).fill(length);
      expect(encodeHex(portableProvider.sha256(bytes))).toBe(openssl(bytes));
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
        expect(encodeHex(portableProvider.sha256(bytes))).toBe(openssl(bytes));
        expect(nodeProvider.sha256(bytes)).toEqual(portableProvider.sha256(bytes));
      }),
    );
  });

  it('leaves its input unchanged, and returns a plain Uint8Array, whose slice() is a copy', () => {
    const bytes = Uint8Array.of(1, 2, 3);
    for (const provider of [portableProvider, nodeProvider]) {
      const digest = provider.sha256(bytes);
      digest.slice().fill(0);
      expect(provider.sha256(bytes)).toEqual(digest);
      expect(Object.getPrototypeOf(digest)).toBe(Uint8Array.prototype);
    }
    expect(bytes).toEqual(Uint8Array.of(1, 2, 3));
  });
});

describe('encodings', () => {
  it('decode to the bytes that were encoded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(decodeHex(encodeHex(bytes))).toEqual(bytes);
        expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes);
        expect(decodeBase64Url(encodeBase64Url(bytes))).toEqual(bytes);
        expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
        expect(encodeBase64Url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
      }),
    );
  });

  it('accept only one spelling of each value', () => {
    for (const text of ['0', '0g', '0/', '/0', 'AB', ' 00', '0x00', '00\n'])
      expect(refusal(() => decodeHex(text)).code).toBe('MALFORMED_ENCODING');
    for (const text of ['QQ', 'QR==', 'QQ==\n', ' QQ==', 'Q-==', 'QQ=', '=', 'QQ==QQ==', '€'])
      expect(refusal(() => decodeBase64(text)).code).toBe('MALFORMED_ENCODING');
    for (const text of ['QQ==', 'QR', 'Q', '+/+/', 'Q Q', 'QQ\n'])
      expect(refusal(() => decodeBase64Url(text)).code).toBe('MALFORMED_ENCODING');
  });

  it('keep a byte order mark, and refuse invalid UTF-8', () => {
    const marked = Uint8Array.of(0xef, 0xbb, 0xbf, 0x61);
    expect(utf8Text(marked)).toBe('\ufeffa');
    expect(utf8Bytes(utf8Text(marked))).toEqual(marked);
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]])
      expect(refusal(() => utf8Text(Uint8Array.from(bytes))).code).toBe('INVALID_UTF8');
  });

  it('compare bytes by value and length', () => {
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(true);
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 0))).toBe(false);
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBe(false);
  });
});
