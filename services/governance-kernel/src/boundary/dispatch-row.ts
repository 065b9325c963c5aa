import type { BudgetId, ReceiptId, TenantId } from '@countersign/contracts';
import type { Demand } from '@countersign/policy';

export type Reservation = { budget_id: BudgetId; demand: Demand };

/** A call that the kernel executes itself: open from its decision until its outcome is sealed. */
export type DispatchRow = {
  ulid: string;
  tenant: TenantId;
  state: 'open' | 'settled';
  reservations: Reservation[];
  deadlineAtMs: number;
  outcomeReceiptId?: ReceiptId;
};
