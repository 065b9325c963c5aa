import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeBase64Url, encodeBase64Url, portableProvider, utf8Bytes } from '../src/index.ts';
import { nodeProvider } from '../src/node.ts';
import type { WebAuthnKey } from '../src/webauthn-key.ts';

const message = utf8Bytes('authenticator data and the hash of the client data');
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const field = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;

type Pair = { publicKey: KeyObject; privateKey: KeyObject };
type Kind = readonly [name: string, digest: 'sha256' | null, generate: () => Pair];

const p256: Kind = ['P-256', 'sha256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })];
const rsa: Kind = ['RSA', 'sha256', () => generateKeyPairSync('rsa', { modulusLength: 2_048 })];
const kinds: readonly Kind[] = [p256, ['Ed25519', null, () => generateKeyPairSync('ed25519')], rsa];

/** The answer of both providers, which must be the same. */
function check(key: WebAuthnKey, signature: Uint8Array, text = message): boolean {
  const answers = [nodeProvider, portableProvider].map((provider) => provider.verifyWebAuthn(key, text, signature));
  expect(answers[1]).toBe(answers[0]);
  return answers[0] === true;
}

const jwkOf = ({ publicKey }: Pair) => publicKey.export({ format: 'jwk' }) as WebAuthnKey; // of the kinds above

describe.each(kinds)('a signature by a passkey of %s', (_name, digest, generate) => {
  const [own, neighbour] = [generate(), generate()];
  const [key, otherKey] = [jwkOf(own), jwkOf(neighbour)];
  const signature = new Uint8Array(sign(digest, message, own.privateKey));

  it('verifies unchanged, and under no other key or message', () => {
    expect(check(key, signature)).toBe(true);
    expect(check(otherKey, signature)).toBe(false);
    expect(check(key, signature, utf8Bytes('other'))).toBe(false);
  });

  it('is refused with any bit changed, shortened or extended', () => {
    for (let index = 0; index < signature.length; index += 1) {
      const changed = Uint8Array.from(signature);
      changed[index] = (changed[index] ?? 0) ^ (1 << (index % 8));
      expect(check(key, changed)).toBe(false);
    }
    for (const length of [0, 1, signature.length - 1]) expect(check(key, signature.subarray(0, length))).toBe(false);
    for (const extra of [0, 1]) expect(check(key, Uint8Array.of(...signature, extra))).toBe(false);
    expect(check(key, Uint8Array.of(0, ...signature))).toBe(false);
  });

  it('is refused for random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(check(key, bytes)).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it('is refused under a key that is not canonical base64url', () => {
    const stray = Object.fromEntries(
      Object.entries(key).map(([name, text]) => [name, name.length === 1 ? `${text}=` : text]),
    );
    expect(check(stray as WebAuthnKey, signature)).toBe(false);
  });
});

describe('a signature of P-256', () => {
  const pair = p256[2]();
  const key = jwkOf(pair) as Extract<WebAuthnKey, { kty: 'EC' }>;
  const [r, s] = integersOf(new Uint8Array(sign('sha256', message, pair.privateKey)));

  it('verifies with S and with its negative, which authenticators may send', () => {
    expect(check(key, derOf([r, s]))).toBe(true);
    expect(check(key, derOf([r, order - s]))).toBe(true);
  });

  it.each<[string, bigint, bigint]>([
    ['r = 0', 0n, s],
    ['s = 0', r, 0n],
    ['r = 0 and s = 0', 0n, 0n],
    ['r equal to the order', order, s],
    ['s equal to the order', r, order],
    ['r above the order', r + order, s],
    ['s above the order', r, s + order],
    ['r and s exchanged', s, r],
  ])('is refused with %s', (_name, first, second) => {
    expect(check(key, derOf([first, second]))).toBe(false);
  });

  const der = derOf([r, s]);
  const [first, second] = [contentOf(r), contentOf(s)];
  const padded = (bytes: Uint8Array) => Uint8Array.of(0, ...bytes);
  it.each<[string, Uint8Array]>([
    ['as plain r and s without DER', Uint8Array.of(...bytes32(r), ...bytes32(s))],
    ['with a length in long form', Uint8Array.of(0x30, 0x81, ...der.subarray(1))],
    ['with an indefinite length', Uint8Array.of(0x30, 0x80, ...der.subarray(2), 0, 0)],
    ['with a leading zero byte in r', sequence([padded(first), second])],
    ['with a leading zero byte in s', sequence([first, padded(second)])],
    ['with a negative r', sequence([Uint8Array.of(0x80 | (first[0] ?? 0), ...first.subarray(1)), second])],
    ['with an empty r', sequence([new Uint8Array(), second])],
    ['with a third integer', sequence([first, second, Uint8Array.of(1)])],
    ['with one integer', sequence([first])],
  ])('is refused %s', (_name, bytes) => {
    expect(check(key, bytes)).toBe(false);
  });

  const [x, y] = [key.x, key.y].map((text) => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`));
  const at = (first: Uint8Array, second: Uint8Array): WebAuthnKey => ({
    ...{ ...key, x: encodeBase64Url(first), y: encodeBase64Url(second) },
  });
  it.each<[string, WebAuthnKey]>([
    ['is not on the curve', at(bytes32(x ?? 0n), bytes32((y ?? 0n) ^ 1n))],
    ['has the mirrored point', at(bytes32(x ?? 0n), bytes32(field - (y ?? 0n)))],
    ['has the coordinates 0 and 0', at(bytes32(0n), bytes32(0n))],
    ['has a coordinate above the order of the field', at(bytes32(2n ** 256n - 1n), bytes32(y ?? 0n))],
    ['has a coordinate of 33 bytes', at(padded(decodeBase64Url(key.x)), decodeBase64Url(key.y))],
    ['has a coordinate of one byte', at(Uint8Array.of(1), decodeBase64Url(key.y))],
    ['has no coordinates', at(new Uint8Array(), new Uint8Array())],
  ])('is refused under a key that %s', (_name, wrong) => {
    expect(check(wrong, der)).toBe(false);
  });
});

describe('a signature of Ed25519 by a passkey', () => {
  it('is refused under a key of small order, with which one signature fits many messages', () => {
    const x = encodeBase64Url(Uint8Array.of(1, ...new Uint8Array(31))); // the neutral element
    const signature = Uint8Array.of(1, ...new Uint8Array(63));
    expect(check({ kty: 'OKP', crv: 'Ed25519', x }, signature)).toBe(false);
  });
});

describe('a signature of RSA', () => {
  const pair = rsa[2]();
  const key = jwkOf(pair) as Extract<WebAuthnKey, { kty: 'RSA' }>;
  const signature = new Uint8Array(sign('sha256', message, pair.privateKey));
  const modulus = BigInt(`0x${Buffer.from(key.n, 'base64url').toString('hex')}`);

  it('is refused with another digest', () => {
    expect(check(key, new Uint8Array(sign('sha512', message, pair.privateKey)))).toBe(false);
  });

  it('is refused with the modulus added, although it is the same number modulo the key', () => {
    const [text, sum] = signedWithRoom();
    expect(check(key, bytesOf(sum - modulus), text)).toBe(true);
    expect(check(key, bytesOf(sum), text)).toBe(false);
  });

  /** A message with a small signature: the sum of signature and modulus still fits into the length of the modulus. */
  function signedWithRoom(): [text: Uint8Array, sum: bigint] {
    for (let count = 0; ; count += 1) {
      const text = utf8Bytes(`message ${String(count)}`);
      const value = BigInt(`0x${sign('sha256', text, pair.privateKey).toString('hex')}`);
      if (value + modulus < 2n ** 2_048n && value >= 2n ** 2_040n) return [text, value + modulus];
    }
  }

  it.each<[string, Partial<typeof key>]>([
    ['has the exponent 1', { e: 'AQ' }],
    ['has an even exponent', { e: 'AQAA' }],
    ['has a leading zero byte in its modulus', { n: encodeBase64Url(Uint8Array.of(0, ...decodeBase64Url(key.n))) }],
    ['has an even modulus', { n: encodeBase64Url(bytesOf(modulus - 1n)) }],
    ['has no modulus', { n: '' }],
    ['has no exponent', { e: '' }],
  ])('is refused under a key that %s', (_name, change) => {
    expect(check({ ...key, ...change }, signature)).toBe(false);
  });

  it('is refused under a key below 2,048 bits, as RFC 7518 requires', () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    expect(check(jwkOf(short), new Uint8Array(sign('sha256', message, short.privateKey)))).toBe(false);
  });
});

/** Reads a signature that OpenSSL wrote. */
function integersOf(der: Uint8Array): [bigint, bigint] {
  const middle = 4 + (der[3] ?? 0);
  const value = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  return [value(der.subarray(4, middle)), value(der.subarray(middle + 2))];
}

function derOf(integers: readonly bigint[]): Uint8Array {
  return sequence(integers.map(contentOf));
}

function sequence(contents: readonly Uint8Array[]): Uint8Array {
  const inner = contents.flatMap((content) => [0x02, content.length, ...content]);
  return Uint8Array.of(0x30, inner.length, ...inner);
}

function contentOf(value: bigint): Uint8Array {
  const bytes = bytesOf(value);
  return (bytes[0] ?? 0) < 0x80 ? bytes : Uint8Array.of(0, ...bytes);
}

function bytesOf(value: bigint): Uint8Array {
  const hex = value.toString(16);
  return Uint8Array.from(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'));
}

function bytes32(value: bigint): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex'));
}
