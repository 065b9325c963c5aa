import { instantOf, type Instant } from '@countersign/contracts';
import type { SignedTrustList, TrustList } from '@countersign/contracts/governance-kernel';
import { trustListType } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, type Signer } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { overlapMsMax, trustListBytes, verifyNextTrustList, verifyTrustList } from '@countersign/verifier';
import { CommandFailed } from '../command-failed.ts';
import { rootOf } from './root-key.ts';

type Keys = TrustList['keys'];
export type Key = Keys[number];

/**
 * Signs the list that follows `previous`, and verifies it like a reader. Throws CommandFailed for a list that readers
 * would refuse.
 */
export function signNext(
  previous: SignedTrustList | null,
  keys: Keys,
  { signer, now }: { signer: Signer; now: Date },
): SignedTrustList {
  const pinned = { root: rootOf(signer), provider: nodeProvider };
  try {
    const existing = previous === null ? null : verifyTrustList(previous, pinned);
    const list: TrustList = {
      type: trustListType,
      version: (existing?.list.version ?? 0) + 1,
      previous_hash: existing?.hash ?? null,
      issued_at: instantOf(now),
      keys,
    };
    const value = encodeBase64Url(signer.sign(trustListBytes(list)));
    const signed: SignedTrustList = { list, signature: { alg: 'Ed25519', key_id: signer.keyId, value } };
    return verifyNextTrustList(signed, { ...pinned, previous: existing }).signed;
  } catch (cause) {
    throw new CommandFailed(cause instanceof Error ? cause.message : 'The list cannot be signed', 1, { cause });
  }
}

/**
 * Adds the evidence keys that the list lacks. The first ones keep the start that their kernel published, so that
 * earlier envelopes stay valid. Later ones begin now, because the kernel signs nothing with an unlisted key.
 */
export function withEvidence(keys: Keys, evidence: readonly Key[], now: Instant): Keys {
  const isFirst = !keys.some(({ purpose }) => purpose === 'evidence');
  const missing = evidence.filter(({ kid }) => !keys.some((key) => key.kid === kid));
  if (isFirst) return [...keys, ...missing];
  const current = missing.filter(({ valid_until: end }) => end === null);
  return current.reduce<Keys>((list, key) => withKey(list, { ...key, valid_from: now }), keys);
}

/** Adds a key. Earlier keys of the same purpose, algorithm and log end when their overlap with the new key is over. */
export function withKey(keys: Keys, added: Key): Keys {
  const until = instantOf(new Date(Date.parse(added.valid_from) + overlapMsMax));
  const isReplaced = (key: Key) =>
    key.purpose === added.purpose && key.alg === added.alg && key.log_origin === added.log_origin;
  const endsLater = ({ valid_until: end }: Key) => end === null || Date.parse(end) > Date.parse(until);
  return [...keys.map((key) => (isReplaced(key) && endsLater(key) ? { ...key, valid_until: until } : key)), added];
}

/** Revokes one key. Throws CommandFailed for an unknown key. */
export function withRevoked(keys: Keys, keyId: string, at: Instant): Keys {
  if (!keys.some(({ kid }) => kid === keyId)) throw new CommandFailed(`The list has no key ${keyId}`, 1);
  return keys.map((key) => (key.kid === keyId ? { ...key, revoked_at: at } : key));
}
