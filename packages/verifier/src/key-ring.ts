import { decodeBase64Url, keyIdOf, type CryptoProvider } from '@countersign/crypto';
import { parseKeySet, type TrustedKey, type TrustedKeys } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';

export type KeyRing = {
  /** Whether the keys are those of a trust list under a pinned root. No other key may then count. */
  readonly isRooted: boolean;
  /** Rejects while no key could be pinned. */
  keys(): Promise<TrustedKeys>;
  /** The currently pinned keys, without a query. */
  pinned(): TrustedKeys;
};

type Sources = {
  /** Ed25519 public keys in base64url. Keys that an operator pinned are trusted for as long as they are configured. */
  configured: readonly string[];
  /** Returns the key set of a kernel, as `/api/v1/trust/keys` serves it. */
  tell: () => Promise<unknown>;
};

/**
 * The keys that receipts are verified with: those of the configuration, or else those that the kernel publishes at
 * first use. Pinned keys stay for the life of the process, so a later kernel cannot introduce its own keys. `keys`
 * rejects with the error of `tell` or with a VerificationError `MALFORMED`, and the next call tries again.
 */
export function createKeyRing({ configured, tell }: Sources, provider: CryptoProvider): KeyRing {
  let pinned: TrustedKeys = configured.map((key) => configuredKey(key, provider));
  return {
    isRooted: false,
    pinned: () => pinned,
    keys: async () => {
      if (pinned.length === 0) pinned = await toldKeys(tell);
      return pinned;
    },
  };
}

async function toldKeys(tell: Sources['tell']): Promise<TrustedKeys> {
  const keys = parseKeySet(await tell());
  if (keys.length === 0) throw new VerificationError('MALFORMED', 'the key set of the kernel is empty');
  return keys;
}

function configuredKey(key: string, provider: CryptoProvider): TrustedKey {
  const publicKey = decodeBase64Url(key);
  const key_id = keyIdOf(provider, publicKey);
  return { key_id, public_key: publicKey, purpose: 'receipts', valid_from: '1970-01-01T00:00:00.000Z' };
}
