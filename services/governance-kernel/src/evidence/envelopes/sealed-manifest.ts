import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { VerificationError, verifyReceipt, type TrustedKeys } from '@countersign/verifier';
import type { EnvelopeRow } from '../../controls/evidence/evidence-envelopes.ts';

/** The resource of the receipt that seals a manifest. */
export const manifestResource = (id: string) => `evidence_envelope:${id}`;

type Trust = { trust: TrustedKeys; provider: CryptoProvider };

/** When the receipt of the manifest was issued. `null` for a receipt that is missing, invalid or of another manifest. */
export function sealedAt(
  row: Pick<EnvelopeRow, 'id' | 'tenant'>,
  receipt: StoredReceipt | null,
  { trust, provider }: Trust,
): Date | null {
  if (receipt === null || receipt.payload.resource !== manifestResource(row.id)) return null;
  if (receipt.payload.tenant_id !== row.tenant || receipt.payload.kind !== 'trust') return null;
  try {
    verifyReceipt(receipt, trust, provider);
    return new Date(receipt.payload.issued_at);
  } catch (error) {
    if (error instanceof VerificationError) return null;
    throw error;
  }
}
