import { tamperDemo } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { tamper } from '../../doors/demo/tamper.ts';
import { receiptHash } from '@countersign/receipts';
import { verifyShown } from '../../doors/demo/verify-demo.ts';
import { trustedKeysOf } from '../../evidence/proof/trusted-keys.ts';

export const tamperDemoRoute = ({ provider, publishedKeys }: Context) =>
  handlePublic(tamperDemo, { rateLimit: 'demo' })(async ({ body: { receipt, expected_receipt_hash, mutation } }) => {
    const trust = trustedKeysOf(await publishedKeys.list());
    const tampered = tamper(receipt, mutation);
    return {
      ...verifyShown(tampered, expected_receipt_hash, { trust, provider }),
      mutation,
      original_hash: receiptHash(provider, receipt),
      tampered_receipt: tampered,
    };
  });
