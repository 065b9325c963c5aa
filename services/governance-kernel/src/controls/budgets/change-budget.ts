import { AppError, type BudgetId, type PrincipalId, type TenantId } from '@countersign/contracts';
import { budgetsOfSubjectMax, isCeiling } from '@countersign/contracts/governance-kernel';
import type { NewEvent } from '@countersign/messaging';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted } from '../../ledger/control.ts';
import type { KernelConfig } from '../../kernel-config.ts';
import { budgetThresholdEvents } from '../../events.ts';
import { receiptTenant } from '../policy/receipt-tenant.ts';
import { settingStatement, type SettingDeps } from '../policy/setting-statement.ts';
import type { BudgetRow, StoredBudget } from './budget-row.ts';
import { budgets } from './budgets.ts';
import { budgetTerms } from './budget-terms.ts';
import { standingBudget, wantedBudget } from './standing-budget.ts';
import { assertCurrencyOfPrices, assertTerms, canonicalSubject, type BudgetTerms } from './terms.ts';
import { noAmounts, windowEndMs } from './window.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

type BudgetChange = {
  tenant: TenantId;
  id: BudgetId;
  terms: BudgetTerms;
  by: PrincipalId;
  /**
   * The version of the new terms. `null` leaves the current terms in place. Throws when the current terms may not be
   * replaced.
   */
  versionAfter(current: StoredBudget | null, terms: BudgetTerms): number | null;
  /** The row under its new terms. Throws when the counted amounts cannot continue under them. */
  carryOn(row: BudgetRow, terms: BudgetTerms): BudgetRow;
};

export type BudgetDeps = SettingDeps & { newEvent: NewEvent; config: Pick<KernelConfig, 'priceCurrency'> };

type Changed = { budget: StoredBudget; isNew: boolean };

/**
 * Sets the terms of a budget and seals the change. Counted amounts stay, as `carryOn` returns them. If the window
 * changes, the budget resets at the end of the new window.
 */
export async function changeBudget(deps: BudgetDeps, budgetChange: BudgetChange): Promise<Changed> {
  assertTerms(budgetChange.terms);
  assertCurrencyOfPrices(budgetChange.terms, deps.config.priceCurrency);
  const change = {
    ...budgetChange,
    terms: { ...budgetChange.terms, subject: canonicalSubject(budgetChange.terms.subject) },
  };
  const { tenant, id, terms } = change;
  const nowMs = deps.clock().getTime();
  const chain = { tenant: receiptTenant(tenant), session: ownSession('budgets') };
  return await deps.ledger.submit({
    chain,
    wants: [...wantedBudget({ tenant, id }), wanted(budgets, { tenant, subject: terms.subject })],
    conclude: (batch) => {
      const current = standingBudget(batch, change, nowMs);
      const version = change.versionAfter(current, terms);
      if (version === null && current !== null) return () => ({ budget: current, isNew: false });
      if (current?.row.subject !== terms.subject) requireRoom(batch, change);
      const row = rowUnder(change, current?.row ?? null, nowMs);
      const budget = { row, version: version ?? 1, updatedAtMs: nowMs };
      const setting = { version: budget.version, ...terms };
      const resource = `budget:${id}`;
      const statement = { ...chain, by: change.by, nowMs, action: 'budget.change', resource, setting } as const;
      batch.seal(settingStatement(deps, statement), () => ({
        changes: [put(budgetTerms, budget), put(budgets, row)],
        events: budgetThresholdEvents(deps, { before: current === null ? [] : [current.row], after: [row], nowMs }),
      }));
      return () => ({ budget, isNew: current === null });
    },
  });
}

function requireRoom(batch: LedgerBatch, { tenant, id, terms: { subject } }: BudgetChange): void {
  const others = batch
    .rows(budgets, { tenant, subject })
    .filter((candidate) => isCeiling(candidate.id) === isCeiling(id));
  if (others.length < budgetsOfSubjectMax) return;
  throw new AppError('ILLEGAL_TRANSITION', `A subject has at most ${budgetsOfSubjectMax} budgets. Change one of them`, {
    param: 'subject',
    details: { allowed: [] },
  });
}

function rowUnder({ tenant, id, terms, carryOn }: BudgetChange, current: BudgetRow | null, nowMs: number): BudgetRow {
  const counted = current === null ? { used: noAmounts, reserved: noAmounts, revision: 0 } : carryOn(current, terms);
  const keepsWindow = current?.window === terms.window;
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
    resetsAtMs: keepsWindow ? current.resetsAtMs : windowEndMs(terms.window, nowMs),
    revision: counted.revision,
  };
}
