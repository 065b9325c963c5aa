import type { CryptoProvider } from '@countersign/crypto';
import type { KeyRing } from './key-ring.ts';
import { verifyTrustList } from './trust-list.ts';
import type { TrustedKeys } from './trusted-keys.ts';

type Sources = {
  /** The root key that the operator pinned. */
  root: string;
  /** Returns the newest trust list, as a kernel serves it. */
  tell: () => Promise<unknown>;
};

/**
 * The keys of the trust list that a pinned root signed. Each call reads the list, so a new key and a revocation take
 * effect at once. A list older than a known version is refused. `keys` rejects with the error of `tell`, or with a
 * VerificationError.
 */
export function createRootedKeyRing({ root, tell }: Sources, provider: CryptoProvider): KeyRing {
  let seen: { version: number; keys: TrustedKeys } = { version: 1, keys: [] };
  return {
    isRooted: true,
    pinned: () => seen.keys,
    keys: async () => {
      const { list, keys } = verifyTrustList(await tell(), { root, provider, versionMin: seen.version });
      // Another call may have seen a later version in the meantime.
      if (list.version >= seen.version) seen = { version: list.version, keys };
      return seen.keys;
    },
  };
}
