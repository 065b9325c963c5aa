import type { Meter } from '@countersign/contracts/commercial-gateway';
import type { WorkspaceId } from '@countersign/contracts';

export type UsageEvent = {
  /** Unique together with `id` within an organisation. */
  source: string;
  id: string;
  meter: Meter;
  /** Millionths of the unit of the meter. */
  quantityMicros: bigint;
  /** `null` when the usage belongs to no workspace. */
  workspaceId: WorkspaceId | null;
  occurredAt: Date;
};

/** Sources of events that are read from receipts. Such an event has the ID of its receipt. */
export const receiptSources = {
  decisions: '/governance-kernel/receipts/decisions',
  tool_calls: '/governance-kernel/receipts/tool_calls',
} as const;
