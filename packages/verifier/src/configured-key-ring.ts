import type { CryptoProvider } from '@countersign/crypto';
import { createKeyRing, type KeyRing } from './key-ring.ts';
import { createRootedKeyRing } from './rooted-key-ring.ts';

/** How an operator configured trust. A root replaces the pinned keys. */
export type ConfiguredTrust = { root: string | null; configured: readonly string[] };

type Kernel = {
  /** Returns the key set of a kernel, as `/api/v1/trust/keys` serves it. */
  tellKeys: () => Promise<unknown>;
  /** Returns the trust list of a kernel, as `/api/v1/trust/list` serves it. */
  tellList: () => Promise<unknown>;
};

/** The keys of the trust list if a root is configured. Otherwise the pinned keys. */
export function createConfiguredKeyRing(
  { root, configured }: ConfiguredTrust,
  { tellKeys, tellList }: Kernel,
  provider: CryptoProvider,
): KeyRing {
  if (root !== null) return createRootedKeyRing({ root, tell: tellList }, provider);
  return createKeyRing({ configured, tell: tellKeys }, provider);
}
