import type { BudgetId, TenantId } from '@countersign/contracts';
import type { Demand } from '@countersign/policy';

export type BudgetWindow = '1h' | '24h' | 'month' | 'total';

/** A budget under its row lock. Limits are null where no ceiling is set. Times are milliseconds since the epoch. */
export type BudgetRow = {
  tenant: TenantId;
  id: BudgetId;
  /** `tenant`, `principal:<id>`, `agent:<id>` or `tool:<name>`. */
  subject: string;
  window: BudgetWindow;
  limits: { [Amount in keyof Demand]: number | null };
  approvalRequiredAboveMinor: number | null;
  currency: string | null;
  used: Demand;
  reserved: Demand;
  resetsAtMs: number | null;
};
