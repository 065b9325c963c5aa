import { AppError, type BudgetId, type PrincipalId, type TenantId } from '@countersign/contracts';
import { budgetsOfSubjectMax, isCeiling } from '@countersign/contracts/governance-kernel';
import type { NewEvent } from '@countersign/messaging';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted } from '../ledger/control.ts';
import type { KernelConfig } from '../kernel-config.ts';
import { budgetThresholdEvents } from '../events.ts';
import { receiptTenant } from '../policy/receipt-tenant.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import type { BudgetRow, StoredBudget } from './budget-row.ts';
import { budgets } from './budgets.ts';
import { budgetTerms } from './budget-terms.ts';
import { standingBudget, wantedBudget } from './standing-budget.ts';
import { assertCurrencyOfPrices, assertTerms, canonicalSubject, type BudgetTerms } from './terms.ts';
import { noAmounts, windowEndMs } from './window.ts';
import { ownSession } from '../ledger/own-sessions.ts';

type BudgetChange = {
  tenant: TenantId;
  id: BudgetId;
  terms: BudgetTerms;
  by: PrincipalId;
  /** The version to replace what stands with by these terms; null confirms what stands. Throws when it may not be replaced. */
  versionAfter(standing: StoredBudget | null, terms: BudgetTerms): number | null;
  /** The row under its new terms. Throws when what was counted cannot go on under them. */
  carryOn(row: BudgetRow, terms: BudgetTerms): BudgetRow;
};

/** The dependencies of a change of a budget. */
export type BudgetParts = SettingParts & { newEvent: NewEvent; config: Pick<KernelConfig, 'priceCurrency'> };

type Changed = { budget: StoredBudget; isNew: boolean };

/**
 * Sets the terms of a budget and seals that. Used and reserved amounts stay, and a new window starts with its own end.
 */
export async function changeBudget(parts: BudgetParts, asked: BudgetChange): Promise<Changed> {
  assertTerms(asked.terms);
  assertCurrencyOfPrices(asked.terms, parts.config.priceCurrency);
  const change = { ...asked, terms: { ...asked.terms, subject: canonicalSubject(asked.terms.subject) } };
  const { tenant, id, terms } = change;
  const nowMs = parts.clock().getTime();
  const chain = { tenant: receiptTenant(tenant), session: ownSession('budgets') };
  return await parts.ledger.submit({
    chain,
    wants: [...wantedBudget({ tenant, id }), wanted(budgets, { tenant, subject: terms.subject })],
    conclude: (batch) => {
      const standing = standingBudget(batch, change, nowMs);
      const version = change.versionAfter(standing, terms);
      if (version === null && standing !== null) return () => ({ budget: standing, isNew: false });
      if (standing?.row.subject !== terms.subject) requireRoom(batch, change);
      const row = rowUnder(change, standing?.row ?? null, nowMs);
      const budget = { row, version: version ?? 1, updatedAtMs: nowMs };
      const setting = { version: budget.version, ...terms };
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

function requireRoom(batch: LedgerBatch, { tenant, id, terms: { subject } }: BudgetChange): void {
  const others = batch.rows(budgets, { tenant, subject }).filter((other) => isCeiling(other.id) === isCeiling(id));
  if (others.length < budgetsOfSubjectMax) return;
  throw new AppError('ILLEGAL_TRANSITION', `A subject has at most ${budgetsOfSubjectMax} budgets; change one of them`, {
    param: 'subject',
    details: { allowed: [] },
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
