import { listTrustKeys } from '@countersign/contracts/governance-kernel';
import { decodeBase64Url, keyIdOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, type TrustedKey, type TrustedKeys } from '@countersign/verifier';
import type { GovernanceConfig } from '../config.ts';
import { KernelError } from './kernel-error.ts';

export type KeyRing = {
  /** Throws KernelError while no key could be pinned. */
  keys(): Promise<TrustedKeys>;
  /** What is pinned now, without asking. */
  pinned(): TrustedKeys;
};

/** How long the kernel may take to tell its keys. */
const fetchTimeoutMs = 5_000;

/**
 * The keys that receipts are verified with: those of the configuration, else those that the kernel names at the first use. Once
 * pinned they stay for the life of the process, so a kernel that is replaced later cannot bring its own.
 */
export function createKeyRing(config: GovernanceConfig, fetchNow: typeof fetch = fetch): KeyRing {
  let pinned: TrustedKeys = config.trustedPublicKeys.map(configuredKey);
  return {
    pinned: () => pinned,
    keys: async () => {
      if (pinned.length === 0) pinned = await fetchKeys(config, fetchNow);
      return pinned;
    },
  };
}

async function fetchKeys(config: GovernanceConfig, fetchNow: typeof fetch): Promise<TrustedKeys> {
  try {
    const response = await fetchNow(new URL(listTrustKeys.path, config.url), {
      signal: AbortSignal.timeout(fetchTimeoutMs),
      redirect: 'error',
    });
    const keys = parseKeySet(await response.json());
    if (keys.length === 0) throw new Error('The kernel names no key');
    return keys;
  } catch (cause) {
    throw new KernelError('unreachable', 'GOVERNANCE_KEYS_UNAVAILABLE', 'The keys of the kernel are not known', {
      cause,
    });
  }
}

/** A key that the operator pinned counts for as long as it is configured. */
function configuredKey(key: string): TrustedKey {
  const publicKey = decodeBase64Url(key);
  return { key_id: keyIdOf(nodeProvider, publicKey), public_key: publicKey, valid_from: '1970-01-01T00:00:00.000Z' };
}
