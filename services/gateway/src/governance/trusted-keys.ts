import { nodeProvider } from '@countersign/crypto/node';
import { createKeyRing, type KeyRing } from '@countersign/verifier';
import type { KernelClient } from './kernel-clients.ts';
import { KernelError } from './kernel-error.ts';

/** The pinned keys of the kernel. Throws KernelError while no key could be pinned. */
export function kernelKeyRing(configured: readonly string[], kernel: Pick<KernelClient, 'listTrustKeys'>): KeyRing {
  const tell = async () => (await kernel.listTrustKeys()).body;
  const ring = createKeyRing({ configured, tell }, nodeProvider);
  return {
    pinned: ring.pinned,
    keys: () =>
      ring.keys().catch((cause: unknown) => {
        throw new KernelError('unreachable', 'GOVERNANCE_KEYS_UNAVAILABLE', 'The keys of the kernel are not known', {
          cause,
        });
      }),
  };
}
