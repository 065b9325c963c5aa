import type { BudgetId, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import { put, wanted } from '../ledger/control.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { receiptTenant } from '../policy/receipt-tenant.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import type { BudgetRow, StoredBudget } from './budget-row.ts';
import { budgets } from './budgets.ts';
import { budgetTerms } from './budget-terms.ts';
import { assertTerms, type BudgetTerms } from './terms.ts';
import { inWindow, noAmounts, windowEndMs } from './window.ts';

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
export async function changeBudget(parts: SettingParts, change: BudgetChange): Promise<Changed> {
  assertTerms(change.terms);
  const { tenant, id } = change;
  const nowMs = parts.clock().getTime();
  const chain = { tenant: receiptTenant(tenant), session: 'budgets' as SessionId }; // within its schema
  return await parts.ledger.submit({
    chain,
    wants: [wanted(budgetTerms, { tenant, id }), wanted(budgets, { tenant, id })],
    conclude: (batch) => {
      const standing = standingBudget(batch, change, nowMs);
      const version = change.versionAfter(standing);
      if (version === null && standing !== null) return () => ({ budget: standing, isNew: false });
      const row = rowUnder(change, standing?.row ?? null, nowMs);
      const budget = { row, version: version ?? 1, updatedAtMs: nowMs };
      const setting = { version: budget.version, ...change.terms };
      const resource = `budget:${id}`;
      const said = { ...chain, by: change.by, nowMs, action: 'budget.change', resource, setting } as const;
      batch.seal(settingStatement(parts, said), () => ({ changes: [put(budgetTerms, budget), put(budgets, row)] }));
      return () => ({ budget, isNew: standing === null });
    },
  });
}

/** With what the entries before this one have taken. */
function standingBudget(batch: LedgerBatch, { tenant, id }: BudgetChange, nowMs: number): StoredBudget | null {
  const stored = batch.row(budgetTerms, { tenant, id });
  const row = batch.row(budgets, { tenant, id });
  return stored === null || row === null ? null : { ...stored, row: inWindow(row, nowMs) };
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
