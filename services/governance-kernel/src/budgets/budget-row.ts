import type { BudgetId, TenantId } from '@countersign/contracts';

export type BudgetWindow = '1h' | '24h' | 'month' | 'total';

/** The used or reserved amounts. Money in millionths of a minor unit, so that no call is rounded up. */
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

/** Limits are null where no ceiling is set. Times are milliseconds since the epoch. */
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
  /** How often amounts were taken: a row of another revision was read too early. */
  readonly revision: number;
};

/** With the version of its terms, which is its ETag. */
export type StoredBudget = { readonly row: BudgetRow; readonly version: number; readonly updatedAtMs: number };
