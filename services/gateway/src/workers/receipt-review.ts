import { repeat } from '@countersign/service-kit';
import { reviewReceipts, type Reviewed } from '../audit/review-receipts.ts';
import type { Context } from '../context.ts';

/**
 * The longest time for which a revoked key still counts here. A pass costs one request and one index read, which
 * begins where the last pass ended.
 */
const passMs = 5_000;

/** Reviews stored receipts for as long as the service runs. */
export function startReceiptReview(context: Context): { stop(): Promise<void> } {
  const reviewed: Reviewed = new Map();
  const passes = repeat({
    run: () => reviewReceipts(context, reviewed),
    intervalMs: passMs,
    clockGuard: context.clockGuard,
    onFailure: (error) => context.log.warn('receipts.review_failed', { error }),
  });
  return { stop: passes.close };
}
