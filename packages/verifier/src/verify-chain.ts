import type { CryptoProvider } from '@countersign/crypto';
import { ChainLinks } from './chain-links.ts';
import type { ChainSummary, LinkOptions } from './chain-links.ts';
import { clipped } from './clipped.ts';
import type { TrustedKeys } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';
import type { VerificationErrorCode } from './verification-error.ts';
import { verifyReceipt } from './verify-receipt.ts';

type ChainReport = {
  integrity: 'VERIFIED' | 'BROKEN';
  /** Receipts that verified, up to the first that did not. */
  receipts: number;
  chains: ChainSummary[];
  first_broken?: { index: number | null; receipt_id: string | null; code: VerificationErrorCode; message: string };
};

/**
 * Verifies every receipt and the links of each tenant and session. A changed, inserted, reordered or repeated receipt
 * breaks the chain. A removed receipt does too, unless it was at the end, or with `partial` at the start. Only `heads`
 * reveal a missing end. Never throws. Stops at the first fault.
 */
export function verifyChain(
  receipts: readonly unknown[],
  { trust, provider, ...options }: { trust: TrustedKeys; provider: CryptoProvider } & LinkOptions,
): ChainReport {
  const links = new ChainLinks(options);
  let index: number | null = null;
  try {
    for (const [position, receipt] of receipts.entries()) {
      index = position;
      links.add(verifyReceipt(receipt, trust, provider));
    }
    index = null;
    const [missing] = links.missingHeads();
    if (missing !== undefined) throw new VerificationError('CHAIN_GAP', `no chain ends with the receipt ${missing}`);
    return { integrity: 'VERIFIED', receipts: links.receipts, chains: links.summaries() };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const receipt_id = index === null ? null : claimedReceiptId(receipts[index]);
    const first_broken = { index, receipt_id, code: error.code, message: error.message };
    return { integrity: 'BROKEN', receipts: links.receipts, chains: links.summaries(), first_broken };
  }
}

/** The id that an arbitrary value claims. */
export function claimedReceiptId(receipt: unknown): string | null {
  if (typeof receipt !== 'object' || receipt === null || !('payload' in receipt)) return null;
  const { payload } = receipt;
  if (typeof payload !== 'object' || payload === null || !('receipt_id' in payload)) return null;
  return typeof payload.receipt_id === 'string' ? clipped(payload.receipt_id) : null;
}
