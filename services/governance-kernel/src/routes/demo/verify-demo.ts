import { verifyDemo } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { verifyShown } from '../../doors/demo/verify-demo.ts';
import { trustedKeysOf } from '../../evidence/proof/trusted-keys.ts';

export const verifyDemoRoute = ({ provider, publishedKeys }: Context) =>
  handlePublic(verifyDemo, { rateLimit: 'demo' })(async ({ body: { receipt, expected_receipt_hash } }) => {
    const trust = trustedKeysOf(await publishedKeys.list());
    return verifyShown(receipt, expected_receipt_hash, { trust, provider });
  });
