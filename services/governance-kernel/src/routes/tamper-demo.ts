import { tamperDemo } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Kernel } from '../context.ts';
import { tamper } from '../demo/tamper.ts';
import { hashOf, verifyShown } from '../demo/verify-demo.ts';
import { trustedKeysOf } from '../proof/trusted-keys.ts';
import { listTrustKeys } from '../store/trust-key-store.ts';

export const tamperDemoRoute = ({ pool, provider }: Kernel) =>
  handlePublic(tamperDemo)(async ({ body: { receipt, expected_receipt_hash, mutation } }) => {
    const trust = trustedKeysOf(await listTrustKeys(pool));
    const tampered = tamper(receipt, mutation);
    return {
      ...verifyShown(tampered, expected_receipt_hash, { trust, provider }),
      mutation,
      original_hash: hashOf(receipt, provider),
      tampered_receipt: tampered,
    };
  });
