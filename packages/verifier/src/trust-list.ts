import { SignedTrustList, type TrustList } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, decodeBase64Url, digestOf, keyIdOf, type CryptoProvider } from '@countersign/crypto';
import { parseUntrusted } from './parse-untrusted.ts';
import { assertSuccession, assertFollows } from './trust-succession.ts';
import { parseKeySet, publicKeyBytes, type TrustedKey } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';

/** The inputs of the verification of a trust list. */
export type TrustRoot = {
  /** The one key that its owner pinned: Ed25519, 32 bytes, base64url. */
  root: string;
  provider: CryptoProvider;
  /** An earlier version than this one is refused: it may lack a revocation. */
  versionMin?: number | undefined;
};

/** A list that the root has signed, and the keys in it. */
export type VerifiedTrustList = { signed: SignedTrustList; list: TrustList; hash: string; keys: TrustedKey[] };

/**
 * Verifies a trust list (`trust.json`) with a pinned root key. The list is attacker-controlled until its signature is verified. Throws
 * {@link VerificationError} `MALFORMED`, `KEY_UNKNOWN` for another root, `SIGNATURE_INVALID`, and `TRUST_OUTDATED` for a version below `versionMin`.
 *
 * ```ts
 * const { keys } = verifyTrustList(JSON.parse(text), { root, provider });
 * ```
 */
export function verifyTrustList(value: unknown, { root, provider, versionMin = 1 }: TrustRoot): VerifiedTrustList {
  const signed = parseUntrusted(SignedTrustList, value, 'trust list');
  assertSignedBy(signed, root, provider);
  const keys = parseKeySet(signed.list);
  assertNames(keys, { root, provider });
  assertSuccession(keys);
  const { list } = signed;
  if (list.version < versionMin)
    throw new VerificationError('TRUST_OUTDATED', `trust list: version ${list.version}, and ${versionMin} is known`);
  return { signed, list, hash: trustHash(signed, provider), keys };
}

/** Verifies a list, and that it is the version after another one: no key is gone, and no window or revocation is taken back. */
export function verifyNextTrustList(
  value: unknown,
  { previous, ...pinned }: TrustRoot & { previous: VerifiedTrustList | null },
): VerifiedTrustList {
  const next = verifyTrustList(value, pinned);
  assertFollows(next, previous);
  return next;
}

/** Whether it has the form of a trust list rather than that of a key set. */
export function isTrustList(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'list' in value;
}

/** The hash that the next version names. */
export function trustHash(signed: SignedTrustList, provider: CryptoProvider): string {
  return digestOf(provider, canonicalBytes(signed));
}

/** The bytes that the root signs. */
export function trustListBytes(list: TrustList): Uint8Array {
  return canonicalBytes(list);
}

function assertSignedBy({ list, signature }: SignedTrustList, root: string, provider: CryptoProvider): void {
  const publicKey = rootBytes(root);
  const id = keyIdOf(provider, publicKey);
  if (signature.key_id !== id)
    throw new VerificationError('KEY_UNKNOWN', `trust list: signed by ${signature.key_id}, and the root is ${id}`);
  if (!provider.verifyEd25519(publicKey, trustListBytes(list), decodeBase64Url(signature.value)))
    throw new VerificationError('SIGNATURE_INVALID', 'trust list: the root key did not sign it');
}

/** A key under another name could be taken for one that is not revoked, and the root key itself signs lists alone. */
function assertNames(keys: readonly TrustedKey[], { root, provider }: TrustRoot): void {
  const rootId = keyIdOf(provider, rootBytes(root));
  for (const key of keys) {
    const id = keyIdOf(provider, publicKeyBytes(key));
    if (key.key_id !== id) throw malformed(`key ${key.key_id} has the id ${id}`);
    if (id === rootId) throw malformed('the root key signs nothing else');
  }
}

function rootBytes(root: string): Uint8Array {
  try {
    return decodeBase64Url(root);
  } catch {
    throw malformed('the root is not base64url');
  }
}

function malformed(message: string): VerificationError {
  return new VerificationError('MALFORMED', `trust list: ${message}`);
}
