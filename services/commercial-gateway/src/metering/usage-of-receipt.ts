import { WorkspaceId } from '@countersign/contracts';
import type { MeteredReceipt } from '@countersign/contracts/governance-kernel';
import { microsPerUnit } from './micros.ts';
import { receiptSources, type UsageEvent } from './usage-event.ts';

/**
 * Returns the usage events of one receipt. Each decision counts as a decision. A decision that allows a tool call also
 * counts as a tool call. Shadow decisions and other kinds of receipts are free.
 */
export function usageOfReceipt(receipt: MeteredReceipt): UsageEvent[] {
  if (receipt.kind !== 'decision' || receipt.shadow) return [];
  const isToolCall = receipt.tool !== null && receipt.verdict === 'ALLOW';
  return [eventOf(receipt, 'decisions'), ...(isToolCall ? [eventOf(receipt, 'tool_calls')] : [])];
}

function eventOf(receipt: MeteredReceipt, meter: keyof typeof receiptSources): UsageEvent {
  return {
    source: receiptSources[meter],
    id: receipt.receipt_id,
    meter,
    quantityMicros: microsPerUnit,
    workspaceId: WorkspaceId.safeParse(receipt.tenant_id).data ?? null,
    occurredAt: new Date(receipt.issued_at),
  };
}
