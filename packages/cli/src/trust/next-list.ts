import type { Instant } from '@countersign/contracts';
import type { SignedTrustList, TrustList } from '@countersign/contracts/governance-kernel';
import { trustListType } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, type Signer } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { overlapMsMax, trustListBytes, verifyNextTrustList, verifyTrustList } from '@countersign/verifier';
import { CommandFailed } from '../command-failed.ts';
import { rootOf } from './root-key.ts';

type Keys = TrustList['keys'];
export type Key = Keys[number];

/** Signs the list that follows `previous`, and verifies it as its readers will. Throws CommandFailed for a list that they would refuse. */
export function signNext(
  previous: SignedTrustList | null,
  keys: Keys,
  { signer, now }: { signer: Signer; now: Date },
): SignedTrustList {
  const pinned = { root: rootOf(signer), provider: nodeProvider };
  try {
    const known = previous === null ? null : verifyTrustList(previous, pinned);
    const list: TrustList = {
      type: trustListType,
      version: (known?.list.version ?? 0) + 1,
      previous_hash: (known?.hash ?? null) as TrustList['previous_hash'], // digestOf writes exactly this form
      issued_at: now.toISOString() as Instant, // as above
      keys,
    };
    const value = encodeBase64Url(signer.sign(trustListBytes(list)));
    const signed: SignedTrustList = { list, signature: { alg: 'Ed25519', key_id: signer.keyId, value } };
    return verifyNextTrustList(signed, { ...pinned, previous: known }).signed;
  } catch (cause) {
    throw new CommandFailed(cause instanceof Error ? cause.message : 'The list cannot be signed', 1, { cause });
  }
}

/** The keys with a new one, which ends those of its purpose and log. */
export function withKey(keys: Keys, added: Key): Keys {
  const until = new Date(Date.parse(added.valid_from) + overlapMsMax).toISOString() as Instant; // of this form
  const isReplaced = (key: Key) => key.purpose === added.purpose && key.log_origin === added.log_origin;
  const endsLater = ({ valid_until: end }: Key) => end === null || Date.parse(end) > Date.parse(until);
  return [...keys.map((key) => (isReplaced(key) && endsLater(key) ? { ...key, valid_until: until } : key)), added];
}

/** The keys with one of them revoked. Throws CommandFailed for an unknown key. */
export function withRevoked(keys: Keys, keyId: string, at: Instant): Keys {
  if (!keys.some(({ kid }) => kid === keyId)) throw new CommandFailed(`The list has no key ${keyId}`, 1);
  return keys.map((key) => (key.kid === keyId ? { ...key, revoked_at: at } : key));
}
