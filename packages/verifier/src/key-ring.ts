import { decodeBase64Url, keyIdOf, type CryptoProvider } from '@countersign/crypto';
import { parseKeySet, type TrustedKey, type TrustedKeys } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';

export type KeyRing = {
  /** Rejects while no key could be pinned. */
  keys(): Promise<TrustedKeys>;
  /** The keys that are pinned now, without a query. */
  pinned(): TrustedKeys;
};

type Sources = {
  /** Ed25519 public keys, base64url: what an operator pinned counts for as long as it is configured. */
  configured: readonly string[];
  /** The key set that a kernel names, as `/api/v1/trust/keys` serves it. */
  tell: () => Promise<unknown>;
};

/**
 * The keys that receipts are verified with: those of the configuration, else those that the kernel names at the first
 * use. Once pinned they stay for the life of the process, so a kernel that is replaced later cannot bring its own.
 * `keys` rejects with the error of `tell` or with a VerificationError `MALFORMED`; the next call asks again.
 */
export function createKeyRing({ configured, tell }: Sources, provider: CryptoProvider): KeyRing {
  let pinned: TrustedKeys = configured.map((key) => configuredKey(key, provider));
  return {
    pinned: () => pinned,
    keys: async () => {
      if (pinned.length === 0) pinned = await toldKeys(tell);
      return pinned;
    },
  };
}

async function toldKeys(tell: Sources['tell']): Promise<TrustedKeys> {
  const keys = parseKeySet(await tell());
  if (keys.length === 0) throw new VerificationError('MALFORMED', 'the kernel names no key');
  return keys;
}

function configuredKey(key: string, provider: CryptoProvider): TrustedKey {
  const publicKey = decodeBase64Url(key);
  const key_id = keyIdOf(provider, publicKey);
  return { key_id, public_key: publicKey, purpose: 'receipts', valid_from: '1970-01-01T00:00:00.000Z' };
}
