import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import nacl from 'tweetnacl';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import {
  CryptoError,
  decodeHex,
  encodeHex,
  isAcceptablePublicKey,
  jwkThumbprint,
  keyIdOf,
  portableProvider,
  publicKeyFromJwk,
  publicKeyToJwk,
  utf8Bytes,
} from '../src/index.ts';
import { isAcceptableEncoding } from '../src/ed25519.ts';
import { nodeProvider } from '../src/node.ts';
import { createSigner, generateSigningKey, signatureLibrary } from '../src/signing.ts';
import { flipBit, refusal, vectorsOf } from './vector-files.ts';

interface SignatureVector {
  seed?: string;
  public_key: string;
  message: string;
  signature: string;
}

const valid = vectorsOf<SignatureVector>('signatures/valid');
const invalid = vectorsOf<SignatureVector>('signatures/invalid');
const isKeyAtFault = (name: string) =>
  name.startsWith('small-order') || /^key-(too|empty|not-on|non-canonical)/.test(name);

function verdicts({ public_key, message, signature }: SignatureVector): boolean[] {
  const [key, bytes, proof] = [decodeHex(public_key), decodeHex(message), decodeHex(signature)];
  return [portableProvider, nodeProvider].map((provider) => provider.verifyEd25519(key, bytes, proof));
}

describe('Ed25519 verification', () => {
  it.each(valid)('accepts %s with both implementations', (_name, vector) => {
    expect(verdicts(vector)).toEqual([true, true]);
    expect(isAcceptablePublicKey(decodeHex(vector.public_key))).toBe(true);
  });

  it.each(invalid)('refuses %s with both implementations', (_name, vector) => {
    expect(verdicts(vector)).toEqual([false, false]);
  });

  it('needs the encoding check, because a library accepts some of the invalid vectors', () => {
    const bare = (check: (key: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean) =>
      invalid.filter(([, { public_key, message, signature }]) => {
        try {
          return check(decodeHex(public_key), decodeHex(message), decodeHex(signature));
        } catch {
          return false;
        }
      });
    const openssl = bare((key, message, signature) =>
      verify(null, message, createPublicKey({ key: { ...publicKeyToJwk(key) }, format: 'jwk' }), signature),
    );
    const tweetnacl = bare((key, message, signature) => nacl.sign.detached.verify(message, signature, key));
    expect(openssl.map(([name]) => name)).toContain('small-order-key-order-8-1');
    expect(tweetnacl.map(([name]) => name)).toContain('s-plus-order');
  });

  it('refuses a signature after any flipped bit of key, message or signature, with both implementations', () => {
    const signer = createSigner(new Uint8Array(32).fill(7));
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 80 }),
        fc.nat(),
        fc.constantFrom(0, 1, 2),
        (message, at, portion) => {
          const pieces = [signer.publicKey, message, signer.sign(message)];
          const tampered = pieces.map((bytes, index) =>
            index === portion ? flipBit(bytes, at % (bytes.length * 8)) : bytes,
          );
          const [key = message, text = message, signature = message] = tampered;
          expect(nodeProvider.verifyEd25519(key, text, signature)).toBe(false);
          expect(portableProvider.verifyEd25519(key, text, signature)).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('refuses every single flipped bit of a signature', () => {
    const signer = createSigner(new Uint8Array(32).fill(9));
    const message = utf8Bytes('approve');
    const signature = signer.sign(message);
    const accepted = Array.from({ length: 512 }, (_, bit) => bit).filter((bit) =>
      nodeProvider.verifyEd25519(signer.publicKey, message, flipBit(signature, bit)),
    );
    expect(accepted).toEqual([]);
  });
});

it('libsodium and OpenSSL make the same signatures', () => {
  expect(signatureLibrary).toBe('libsodium');
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array({ maxLength: 300 }), (seed, message) => {
      const [native, openssl] = [createSigner(seed), createSigner(seed, () => null)];
      expect(native.sign(message)).toEqual(openssl.sign(message));
      expect(nodeProvider.verifyEd25519(native.publicKey, message, native.sign(message))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

describe('the encoding of a signature', () => {
  const { publicKey } = generateSigningKey();
  const order = 2n ** 252n + 27742317777372353535851937790883648493n; // RFC 8032 §5.1
  const withS = (s: bigint) =>
    Buffer.concat([Buffer.alloc(32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()]);

  it.each([0n, 1n, order - 2n ** 128n, order - 1n])('may have an S of %d, below the order of the group', (s) => {
    expect(isAcceptableEncoding(publicKey, withS(s))).toBe(true);
  });

  it.each([order, order + 1n, order + 2n ** 248n, 2n ** 256n - 1n])(
    'may not have an S of %d, which is not below the order of the group',
    (s) => {
      expect(isAcceptableEncoding(publicKey, withS(s))).toBe(false);
    },
  );

  it('has 64 bytes', () => {
    expect(isAcceptableEncoding(publicKey, withS(1n).subarray(0, 63))).toBe(false);
    expect(isAcceptableEncoding(publicKey, Buffer.concat([withS(1n), Buffer.alloc(1)]))).toBe(false);
  });
});

describe('enrolment of a public key', () => {
  it.each(invalid.filter(([name]) => isKeyAtFault(name)))('refuses %s', (_name, { public_key }) => {
    expect(isAcceptablePublicKey(decodeHex(public_key))).toBe(false);
  });

  it('accepts exactly the encodings that decompress to a point on the curve', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const key = bytes.with(31, (bytes[31] ?? 0) & 0x3f);
        expect(isAcceptablePublicKey(key)).toBe(isPoint(key));
      }),
      { numRuns: 40 },
    );
  });

  it('reads the JWK that it writes, and refuses other key types, private keys and invalid points', () => {
    const { publicKey } = generateSigningKey();
    const jwk = publicKeyToJwk(publicKey);
    expect(publicKeyFromJwk({ ...jwk, kid: 'k1' })).toEqual(publicKey);
    const refused = [
      null,
      undefined,
      'x',
      {},
      { ...jwk, kty: 'EC' },
      { ...jwk, crv: 'X25519' },
      { ...jwk, d: jwk.x },
      { ...jwk, x: `${jwk.x}=` },
    ];
    const smallOrder = publicKeyToJwk(new Uint8Array(32));
    for (const bad of [...refused, smallOrder]) expect(refusal(() => publicKeyFromJwk(bad)).code).toBe('MALFORMED_KEY');
  });
});

describe('the thumbprint of a public key', () => {
  it('equals the example of RFC 8037, appendix A.3', () => {
    const publicKey = publicKeyFromJwk({
      kty: 'OKP',
      crv: 'Ed25519',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    });
    expect(jwkThumbprint(nodeProvider, publicKey)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
  });
});

describe('signing', () => {
  it.each(valid.filter(([, { seed }]) => seed !== undefined))(
    'produces the published signature of %s',
    (_name, vector) => {
      const signer = createSigner(decodeHex(vector.seed ?? ''));
      expect(encodeHex(signer.publicKey)).toBe(vector.public_key);
      expect(encodeHex(signer.sign(decodeHex(vector.message)))).toBe(vector.signature);
    },
  );

  it('restores the same signer and key id from the PEM of a generated key', () => {
    const generated = generateSigningKey();
    const signer = createSigner(generated.privateKeyPem);
    expect([signer.publicKey, signer.keyId]).toEqual([generated.publicKey, generated.keyId]);
    expect(signer.keyId).toBe(keyIdOf(portableProvider, signer.publicKey));
    expect(signer.keyId).toMatch(/^key_[0-9a-f]{16}$/);
  });

  it('refuses input that is not an Ed25519 private key, and keeps it out of the message', () => {
    const secret = 'not-a-key-but-secret';
    const otherKey = String(generateKeyPairSync('x25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));
    for (const bad of [secret, new Uint8Array(31), new Uint8Array(33), otherKey]) {
      expect(refusal(() => createSigner(bad)).code).toBe('MALFORMED_KEY');
    }
    expect(() => createSigner(secret)).toThrow(CryptoError);
    expect(() => createSigner(secret)).not.toThrow(new RegExp(secret));
  });
});

// Computes the root as RFC 8032 §5.1.3 does. The code in src only checks that a root exists.
function isPoint(key: Uint8Array): boolean {
  const p = 2n ** 255n - 19n;
  const y = BigInt(`0x${encodeHex(key.toReversed())}`);
  const d = (-121665n * inverse(121666n, p)) % p;
  const xSquared = ((y * y - 1n) * inverse((d * y * y + 1n + p * p * p) % p, p)) % p;
  const x = modPow((xSquared + p) % p, (p + 3n) / 8n, p);
  const sqrtOfMinusOne = modPow(2n, (p - 1n) / 4n, p);
  return [x, (x * sqrtOfMinusOne) % p].some((root) => (root * root - xSquared) % p === 0n);
}

function inverse(value: bigint, p: bigint): bigint {
  return modPow(((value % p) + p) % p, p - 2n, p);
}

function modPow(base: bigint, exponent: bigint, p: bigint): bigint {
  if (exponent === 0n) return 1n;
  const half = modPow((base * base) % p, exponent / 2n, p);
  return exponent % 2n === 1n ? (half * base) % p : half;
}
