import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { assertionTerms, type AssertionClaims } from '@countersign/contracts';
import { keyIdOf, publicKeyFromJwk } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { SignJWT } from 'jose';

/** Whom somebody speaks for. */
export type Asserted = Pick<AssertionClaims, 'sub' | 'workspace_id' | 'role'>;

export type AssertionSigner = {
  readonly keyId: string;
  readonly publicKey: Uint8Array;
  /** An assertion with more than half of its life before it. */
  sign(asserted: Asserted): Promise<string>;
};

type Signed = { text: Promise<string>; atMs: number };

/** Less than half of its life: whoever gets it can still be late. */
const reusedMsMax = 25_000;
const signedMax = 1_000;

/** Signs with a key of readAssertionKey. */
export function createAssertionSigner(key: KeyObject, now: () => Date): AssertionSigner {
  const publicKey = publicKeyFromJwk(createPublicKey(key).export({ format: 'jwk' }));
  const keyId = keyIdOf(nodeProvider, publicKey);
  const signed = new Map<string, Signed>();
  return {
    keyId,
    publicKey,
    sign: (asserted) => {
      const nowMs = now().getTime();
      const name = JSON.stringify([asserted.workspace_id, asserted.sub, asserted.role]);
      const earlier = signed.get(name);
      if (earlier !== undefined && isYoung(earlier, nowMs)) return earlier.text;
      if (signed.size >= signedMax) signed.clear();
      const text = signAnew(key, keyId, asserted, nowMs);
      signed.set(name, { text, atMs: nowMs });
      return text;
    },
  };
}

/** An Ed25519 private key in PKCS#8 PEM; null for what is none. */
export function readAssertionKey(pem: string): KeyObject | null {
  const key = imported(pem);
  return key?.asymmetricKeyType === 'ed25519' ? key : null;
}

function imported(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem);
  } catch {
    return null; // the library's own message may quote the key
  }
}

/** A clock that was put back makes it sign anew. */
function isYoung({ atMs }: Signed, nowMs: number): boolean {
  return nowMs >= atMs && nowMs - atMs < reusedMsMax;
}

function signAnew(key: KeyObject, kid: string, { sub, workspace_id, role }: Asserted, nowMs: number): Promise<string> {
  const { type, issuer, audience, lifeSecondsMax } = assertionTerms;
  const iat = Math.floor(nowMs / 1_000);
  return new SignJWT({ sub, workspace_id, role, iss: issuer, aud: audience, iat, exp: iat + lifeSecondsMax })
    .setProtectedHeader({ alg: 'EdDSA', typ: type, kid })
    .sign(key);
}
