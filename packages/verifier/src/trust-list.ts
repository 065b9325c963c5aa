import { sha256Of, type Digest } from '@countersign/contracts';
import { SignedTrustList, type EvidenceKey, type TrustList } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, decodeBase64Url, keyIdOf, type CryptoProvider } from '@countersign/crypto';
import { parseUntrusted } from './parse-untrusted.ts';
import { evidenceKeyOf, type TrustedEvidenceKey } from './evidence-keys.ts';
import { assertSuccession, assertFollows, type ListedKey } from './trust-succession.ts';
import { parseKeySet, publicKeyBytes, type TrustedKey } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';

/** The parameters for the verification of a trust list. */
export type TrustRoot = {
  /** The root key that the reader pinned: Ed25519, 32 bytes, base64url. */
  root: string;
  provider: CryptoProvider;
  /** The lowest accepted version. An older list is refused, since it may lack a revocation. */
  versionMin?: number | undefined;
};

/** A list that the root has signed, and the keys in it. */
export type VerifiedTrustList = {
  signed: SignedTrustList;
  list: TrustList;
  hash: Digest;
  /** The signing keys, for receipts, policies and logs. */
  keys: TrustedKey[];
  /** The keys of envelopes. */
  evidenceKeys: TrustedEvidenceKey[];
  /** All entries. */
  listed: ListedKey[];
};

/**
 * Verifies a trust list (`trust.json`) with a pinned root key. The list is attacker-controlled until its signature is
 * verified. Throws {@link VerificationError} `MALFORMED`, `KEY_UNKNOWN` for a different root, `SIGNATURE_INVALID`, and
 * `TRUST_OUTDATED` for a version below `versionMin`.
 *
 * ```ts
 * const { keys } = verifyTrustList(JSON.parse(text), { root, provider });
 * ```
 */
export function verifyTrustList(value: unknown, { root, provider, versionMin = 1 }: TrustRoot): VerifiedTrustList {
  const signed = parseUntrusted(SignedTrustList, value, 'trust list');
  assertSignedBy(signed, root, provider);
  const { list } = signed;
  const keys = parseKeySet({ keys: list.keys.filter((key) => !isEvidenceKey(key)) });
  const evidenceKeys = list.keys.filter(isEvidenceKey).map((key) => evidenceKeyOf(key, provider));
  assertNames(keys, { root, provider });
  const listed = [...keys.map(listedKey), ...evidenceKeys.map(listedEvidenceKey)];
  assertDistinct(list, listed, root);
  assertSuccession(listed);
  if (list.version < versionMin)
    throw new VerificationError(
      'TRUST_OUTDATED',
      `trust list: its version is ${list.version}, but version ${versionMin} or later is required`,
    );
  return { signed, list, hash: trustHash(signed, provider), keys, evidenceKeys, listed };
}

/**
 * Verifies a list, and that it directly follows the previous version: no key is removed, and no end or revocation is
 * undone.
 */
export function verifyNextTrustList(
  value: unknown,
  { previous, ...pinned }: TrustRoot & { previous: VerifiedTrustList | null },
): VerifiedTrustList {
  const next = verifyTrustList(value, pinned);
  assertFollows(next, previous);
  return next;
}

/** Whether the value has the form of a trust list and not of a key set. */
export function isTrustList(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'list' in value;
}

/** The hash of a signed list, which the next version of the list contains. */
export function trustHash(signed: SignedTrustList, provider: CryptoProvider): Digest {
  return sha256Of(provider, canonicalBytes(signed));
}

/** The bytes that the root signs. */
export function trustListBytes(list: TrustList): Uint8Array {
  return canonicalBytes(list);
}

function assertSignedBy({ list, signature }: SignedTrustList, root: string, provider: CryptoProvider): void {
  const publicKey = rootBytes(root);
  const id = keyIdOf(provider, publicKey);
  if (signature.key_id !== id)
    throw new VerificationError(
      'KEY_UNKNOWN',
      `trust list: signed by the key ${signature.key_id}, but the root is ${id}`,
    );
  if (!provider.verifyEd25519(publicKey, trustListBytes(list), decodeBase64Url(signature.value)))
    throw new VerificationError('SIGNATURE_INVALID', 'trust list: the root key did not sign it');
}

/**
 * Refuses a key under another name, which could be mistaken for a key that is not revoked. Also refuses the root key,
 * since it signs only lists.
 */
function assertNames(keys: readonly TrustedKey[], { root, provider }: TrustRoot): void {
  const rootId = keyIdOf(provider, rootBytes(root));
  for (const key of keys) {
    const id = keyIdOf(provider, publicKeyBytes(key));
    if (key.key_id !== id) throw malformed(`key ${key.key_id} must have the id ${id}`);
    if (id === rootId) throw malformed('the root key must not be a key of the list');
  }
}

function isEvidenceKey(key: TrustList['keys'][number]): key is EvidenceKey {
  return key.purpose === 'evidence';
}

function listedKey(key: TrustedKey): ListedKey {
  const line = `${key.purpose} ${key.log_origin ?? ''}`;
  return { ...windowOf(key), key_id: key.key_id, line, bytes: publicKeyBytes(key), mayBeginEarlier: false };
}

function listedEvidenceKey(key: TrustedEvidenceKey): ListedKey {
  const line = `evidence ${key.alg}`;
  return { ...windowOf(key), key_id: key.key_id, line, bytes: key.public_key, mayBeginEarlier: true };
}

type Window = Pick<TrustedKey, 'valid_from' | 'valid_until' | 'revoked_at'>;

function windowOf({ valid_from, valid_until, revoked_at }: Window): Window {
  return {
    valid_from,
    ...(valid_until !== undefined && { valid_until }),
    ...(revoked_at !== undefined && { revoked_at }),
  };
}

/** Refuses an id or a public key that two entries have, and the root key as an evidence key. */
function assertDistinct({ keys }: TrustList, listed: readonly ListedKey[], root: string): void {
  const points = keys.map((key) => ('y' in key ? `${key.x} ${key.y}` : key.x));
  if (new Set(points).size < points.length || new Set(listed.map(({ key_id: id }) => id)).size < listed.length)
    throw malformed('two entries have the same id or the same key');
  if (points.includes(root)) throw malformed('the root key must not be a key of the list');
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
