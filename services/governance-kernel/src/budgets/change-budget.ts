import type { BudgetId, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { NewEvent } from '@countersign/messaging';
import { put } from '../ledger/control.ts';
import { budgetThresholdEvents } from '../events.ts';
import { receiptTenant } from '../policy/receipt-tenant.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import type { BudgetRow, StoredBudget } from './budget-row.ts';
import { budgets } from './budgets.ts';
import { budgetTerms } from './budget-terms.ts';
import { standingBudget, wantedBudget } from './standing-budget.ts';
import { assertTerms, type BudgetTerms } from './terms.ts';
import { noAmounts, windowEndMs } from './window.ts';

type BudgetChange = {
  tenant: TenantId;
  id: BudgetId;
  terms: BudgetTerms;
  by: PrincipalId;
  /** The version to replace what stands with; null confirms what stands. Throws when it may not be replaced. */
  versionAfter(standing: StoredBudget | null): number | null;
  /** The row under its new terms. Throws when what was counted cannot go on under them. */
  carryOn(row: BudgetRow, terms: BudgetTerms): BudgetRow;
};

type Changed = { budget: StoredBudget; isNew: boolean };

/** Sets the terms of a budget and seals that. What is used and reserved counts on, and a new window starts with its own end. */
export async function changeBudget(
  parts: SettingParts & { newEvent: NewEvent },
  change: BudgetChange,
): Promise<Changed> {
  assertTerms(change.terms);
  const { tenant, id } = change;
  const nowMs = parts.clock().getTime();
  const chain = { tenant: receiptTenant(tenant), session: 'budgets' as SessionId }; // within its schema
  return await parts.ledger.submit({
    chain,
    wants: wantedBudget({ tenant, id }),
    conclude: (batch) => {
      const standing = standingBudget(batch, change, nowMs);
      const version = change.versionAfter(standing);
      if (version === null && standing !== null) return () => ({ budget: standing, isNew: false });
      const row = rowUnder(change, standing?.row ?? null, nowMs);
      const budget = { row, version: version ?? 1, updatedAtMs: nowMs };
      const setting = { version: budget.version, ...change.terms };
      const resource = `budget:${id}`;
      const said = { ...chain, by: change.by, nowMs, action: 'budget.change', resource, setting } as const;
      batch.seal(settingStatement(parts, said), () => ({
        changes: [put(budgetTerms, budget), put(budgets, row)],
        events: budgetThresholdEvents(parts, { before: standing === null ? [] : [standing.row], after: [row], nowMs }),
      }));
      return () => ({ budget, isNew: standing === null });
    },
  });
}

function rowUnder({ tenant, id, terms, carryOn }: BudgetChange, standing: BudgetRow | null, nowMs: number): BudgetRow {
  const counted = standing === null ? { used: noAmounts, reserved: noAmounts, revision: 0 } : carryOn(standing, terms);
  const keepsWindow = standing?.window === terms.window;
  return {
    tenant,
    id,
    subject: terms.subject,
    window: terms.window,
    limits: {
      tool_calls: terms.tool_call_limit,
      spend_minor: terms.spend_limit_minor,
      egress_bytes: terms.egress_limit_bytes,
      writes: terms.write_limit,
    },
    approvalRequiredAboveMinor: terms.approval_required_above_minor,
    currency: terms.currency,
    used: counted.used,
    reserved: counted.reserved,
    resetsAtMs: keepsWindow ? standing.resetsAtMs : windowEndMs(terms.window, nowMs),
    revision: counted.revision,
  };
}
