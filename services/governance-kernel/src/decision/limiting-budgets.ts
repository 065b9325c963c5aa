import { toolsNamed } from '@countersign/policy';
import type { NamedCall } from '../call/governed-call.ts';
import type { SealedIntent } from '../call/normalise.ts';
import type { BudgetRow } from '../controls/budgets/budget-row.ts';
import { budgets } from '../controls/budgets/budgets.ts';
import { installationBudgets, isInstallationCeiling } from '../controls/budgets/installation-ceiling.ts';
import { budgetSubjects } from '../controls/budgets/reserve.ts';
import { inWindow } from '../controls/budgets/window.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { wanted, type Wanted } from '../ledger/control.ts';
import type { KnownCall } from './known-call.ts';

/**
 * One set for each subject whose budgets limit the call. Model calls by the kernel are also limited by the
 * installation's ceiling, since the installation pays for them.
 */
export function budgetSets(
  { caller: { tenant } }: Pick<NamedCall, 'caller'>,
  intent: SealedIntent,
  dispatchedBy: KnownCall['dispatchedBy'],
): Wanted[] {
  const subjects = budgetSubjects({ principal: intent.principal, tools: toolsNamed(intent) });
  const own = subjects.map((subject) => wanted(budgets, { tenant, subject }));
  if (isPricedHere({ intent, dispatchedBy })) own.push(wanted(budgets, installationBudgets));
  return own;
}

/**
 * The caller's own budgets by name, and after them the budgets of the installation. A refusal names the first budget
 * that refuses the call. It therefore prefers a budget that the caller can change.
 */
export function limitingBudgets(
  batch: LedgerBatch,
  { budgetSets: sets, nowMs }: Pick<KnownCall, 'budgetSets'> & { nowMs: number },
): BudgetRow[] {
  const limiting: BudgetRow[] = [];
  for (const set of sets) for (const budget of batch.rowsOf(budgets, set)) limiting.push(inWindow(budget, nowMs));
  return limiting.length < 2 ? limiting : limiting.sort(ceilingsLast);
}

/** Whether the kernel calls the model itself, so that its own price table applies. */
export function isPricedHere({
  intent,
  dispatchedBy,
}: {
  intent: Pick<SealedIntent, 'action'>;
  dispatchedBy: KnownCall['dispatchedBy'];
}): boolean {
  return intent.action === 'model.call' && dispatchedBy === 'kernel';
}

function ceilingsLast(left: BudgetRow, right: BudgetRow): number {
  return Number(isInstallationCeiling(left)) - Number(isInstallationCeiling(right)) || (left.id < right.id ? -1 : 1);
}
