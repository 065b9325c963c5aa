import { nodeProvider } from '@countersign/crypto/node';
import {
  createConfiguredKeyRing,
  parseKeySet,
  trustOf,
  type ConfiguredTrust,
  type KeyRing,
  type TrustedKeys,
} from '@countersign/verifier';
import type { KernelClient } from './kernel-clients.ts';
import { KernelError } from './kernel-error.ts';

export type KernelKeyRing = Pick<KeyRing, 'pinned'> & {
  /** The keys for a receipt of this key. Throws KernelError while no keys could be read. */
  keysFor(keyId: string): Promise<TrustedKeys>;
  /**
   * Reads the revocations and ends that currently apply. Resolves to all keys that verify stored receipts, including
   * revoked keys that are not pinned. Throws KernelError.
   */
  refresh(): Promise<TrustedKeys>;
};

type Deps = { kernel: Pick<KernelClient, 'listTrustKeys' | 'getTrustList'>; now: () => Date };

/** How long a read trust list counts. A revoked key therefore ends here at most this much later than elsewhere. */
export const listFreshMs = 5_000;

/** The keys that verify receipts: those of the trust list if a root is configured, or else the pinned keys. */
export function kernelKeyRing(trust: ConfiguredTrust, { kernel, now }: Deps): KernelKeyRing {
  const tellKeys = async () => (await kernel.listTrustKeys()).body;
  const tellList = async () => (await kernel.getTrustList()).body;
  const ring = createConfiguredKeyRing(trust, { tellKeys, tellList }, nodeProvider);
  return ring.isRooted ? listedKeys(ring, now) : pinnedKeys(ring, tellKeys);
}

/**
 * The keys of the trust list. An old list does not count, because the list that replaced it may revoke a key. A receipt
 * of an unlisted key causes another read, because the list may have been replaced since.
 */
function listedKeys(ring: KeyRing, now: () => Date): KernelKeyRing {
  let readAtMs: number | null = null;
  const refresh = async () => {
    const askedAtMs = now().getTime();
    const keys = await ring.keys().catch(throwUnknown);
    readAtMs = Math.max(askedAtMs, readAtMs ?? askedAtMs);
    return keys;
  };
  return {
    pinned: ring.pinned,
    keysFor: async (keyId) => {
      const isFresh = readAtMs !== null && Math.abs(now().getTime() - readAtMs) < listFreshMs;
      const isListed = ring.pinned().some(({ key_id }) => key_id === keyId);
      return isFresh && isListed ? ring.pinned() : await refresh();
    },
    refresh,
  };
}

function pinnedKeys(ring: KeyRing, tellKeys: () => Promise<unknown>): KernelKeyRing {
  let narrowed: TrustedKeys | null = null;
  const keys = async () => narrowed ?? (await ring.keys().catch(throwUnknown));
  return {
    pinned: ring.pinned,
    keysFor: keys,
    refresh: async () => {
      const existing = await keys();
      const reported = await tellKeys().then(parseKeySet).catch(throwUnknown);
      // Another refresh may have ended a key in the meantime, and an end is never undone.
      const counted = (narrowed = trustOf(narrowed ?? existing, reported));
      const unpinned = reported.filter((key) => !counted.some(({ key_id }) => key_id === key.key_id));
      return [...counted, ...unpinned.filter(({ revoked_at }) => revoked_at !== undefined)];
    },
  };
}

function throwUnknown(cause: unknown): never {
  throw new KernelError('unreachable', 'GOVERNANCE_KEYS_UNAVAILABLE', 'The keys of the kernel could not be loaded', {
    cause,
  });
}
