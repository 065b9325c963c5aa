import { nodeProvider } from '@countersign/crypto/node';
import { createKeyRing, parseKeySet, trustOf, type KeyRing, type TrustedKeys } from '@countersign/verifier';
import type { KernelClient } from './kernel-clients.ts';
import { KernelError } from './kernel-error.ts';

export type KernelKeyRing = KeyRing & {
  /**
   * Applies the revocations and ends that the kernel reports now to the pinned keys. Resolves to all keys that kept receipts are verified
   * with: also revoked ones that an operator has unpinned since. Throws KernelError.
   */
  refresh(): Promise<TrustedKeys>;
};

/** The pinned keys of the kernel. Throws KernelError while no key could be pinned. */
export function kernelKeyRing(
  configured: readonly string[],
  kernel: Pick<KernelClient, 'listTrustKeys'>,
): KernelKeyRing {
  const tell = async () => (await kernel.listTrustKeys()).body;
  const ring = createKeyRing({ configured, tell }, nodeProvider);
  let narrowed: TrustedKeys | null = null;
  const keys = async () => narrowed ?? (await ring.keys().catch(throwUnknown));
  return {
    pinned: ring.pinned,
    keys,
    refresh: async () => {
      const known = await keys();
      const reported = await tell().then(parseKeySet).catch(throwUnknown);
      // Another refresh may have ended a key in the meantime, and no end is taken back.
      const counted = (narrowed = trustOf(narrowed ?? known, reported));
      const unpinned = reported.filter((key) => !counted.some(({ key_id }) => key_id === key.key_id));
      return [...counted, ...unpinned.filter(({ revoked_at }) => revoked_at !== undefined)];
    },
  };
}

function throwUnknown(cause: unknown): never {
  throw new KernelError('unreachable', 'GOVERNANCE_KEYS_UNAVAILABLE', 'The keys of the kernel are not known', {
    cause,
  });
}
