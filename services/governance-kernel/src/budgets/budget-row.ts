import type { BudgetId, TenantId } from '@countersign/contracts';
import type { Demand } from '@countersign/policy';

export type BudgetWindow = '1h' | '24h' | 'month' | 'total';

/** Limits are null where no ceiling is set. Times are milliseconds since the epoch. */
export type BudgetRow = {
  readonly tenant: TenantId;
  readonly id: BudgetId;
  /** `tenant`, `principal:<id>`, `agent:<id>` or `tool:<name>`. */
  readonly subject: string;
  readonly window: BudgetWindow;
  readonly limits: Readonly<Record<keyof Demand, number | null>>;
  readonly approvalRequiredAboveMinor: number | null;
  readonly currency: string | null;
  readonly used: Readonly<Demand>;
  readonly reserved: Readonly<Demand>;
  readonly resetsAtMs: number | null;
  /** How often amounts were taken: a row of another revision was read too early. */
  readonly revision: number;
};
