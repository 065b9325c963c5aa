import { decodeBase64Url, keyIdOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, type TrustedKey, type TrustedKeys } from '@countersign/verifier';
import type { KernelClient } from './kernel-clients.ts';
import { KernelError } from './kernel-error.ts';

export type KeyRing = {
  /** Throws KernelError while no key could be pinned. */
  keys(): Promise<TrustedKeys>;
  /** What is pinned now, without asking. */
  pinned(): TrustedKeys;
};

type TellsKeys = Pick<KernelClient, 'listTrustKeys'>;

/**
 * The keys that receipts are verified with: those of the configuration, else those that the kernel names at the first use. Once
 * pinned they stay for the life of the process, so a kernel that is replaced later cannot bring its own.
 */
export function createKeyRing(configured: readonly string[], kernel: TellsKeys): KeyRing {
  let pinned: TrustedKeys = configured.map(configuredKey);
  return {
    pinned: () => pinned,
    keys: async () => {
      if (pinned.length === 0) pinned = await fetchKeys(kernel);
      return pinned;
    },
  };
}

async function fetchKeys(kernel: TellsKeys): Promise<TrustedKeys> {
  try {
    const answer = await kernel.listTrustKeys();
    const keys = parseKeySet(answer.body);
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
  const key_id = keyIdOf(nodeProvider, publicKey);
  return { key_id, public_key: publicKey, purpose: 'receipts', valid_from: '1970-01-01T00:00:00.000Z' };
}
