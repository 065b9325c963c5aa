import type { BudgetId, TenantId } from '@countersign/contracts';

export type BudgetWindow = '1h' | '24h' | 'month' | 'total';

/** Used or reserved amounts. Money is in millionths of a minor unit, so that no call is rounded up. */
export type BudgetAmounts = {
  readonly tool_calls: number;
  readonly spend_micros: bigint;
  readonly egress_bytes: number;
  readonly writes: number;
};

type Limits = {
  readonly tool_calls: number | null;
  readonly spend_minor: number | null;
  readonly egress_bytes: number | null;
  readonly writes: number | null;
};

/** A limit is `null` when no ceiling is set. Times are milliseconds since the epoch. */
export type BudgetRow = {
  readonly tenant: TenantId;
  readonly id: BudgetId;
  /** `tenant`, `principal:<id>`, `agent:<id>` or `tool:<name>`. */
  readonly subject: string;
  readonly window: BudgetWindow;
  readonly limits: Limits;
  readonly approvalRequiredAboveMinor: number | null;
  readonly currency: string | null;
  readonly used: BudgetAmounts;
  readonly reserved: BudgetAmounts;
  readonly resetsAtMs: number | null;
  /** Rises with each change of the amounts. A cached row with an earlier revision is stale. */
  readonly revision: number;
};

/** A budget with the version of its terms, which is its ETag. */
export type StoredBudget = { readonly row: BudgetRow; readonly version: number; readonly updatedAtMs: number };
