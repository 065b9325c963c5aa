import { installationCeiling } from '@countersign/contracts/governance-kernel';
import type { ApprovalPreconditions, BudgetRemainder } from '@countersign/contracts/governance-kernel';
import type { BudgetFact, Facts } from './facts.ts';

export type Preconditions = Readonly<ApprovalPreconditions>;

/**
 * The condition that changed after the approval was requested, as a sentence. `null` when no condition changed. A fact
 * that is unknown now counts as changed.
 */
export function unmetPrecondition(
  { tool_definition_hash, budgets }: Preconditions,
  facts: Pick<Facts, 'registry' | 'budgets'>,
): string | null {
  if (pinOf(facts.registry) !== tool_definition_hash)
    return 'The pinned definition of the tool changed after the approval was requested.';
  if (budgets === null) return null;
  if (facts.budgets.state !== 'known') return 'The budgets are not known.';
  const taken = facts.budgets.value.find((budget) => !holdsAsMuch(budget, budgets));
  return taken === undefined ? null : `Budget ${taken.budget_id} has less left than when the approval was requested.`;
}

/** The pin of the tool. An unavailable registry returns a value that matches no approval. */
function pinOf(registry: Facts['registry']): string | null {
  switch (registry.state) {
    case 'known':
      return registry.value.tool?.pinned_hash ?? null;
    case 'not_applicable':
      return null;
    // Stryker disable next-line StringLiteral: Neither the state nor undefined is the pin of an approval.
    case 'unavailable':
      return registry.state;
  }
}

/** The ceiling of the installation is not compared, since all tenants consume it. */
function holdsAsMuch(now: BudgetFact, before: readonly BudgetRemainder[]): boolean {
  if (now.budget_id === installationCeiling) return true;
  const then = before.find(({ budget_id }) => budget_id === now.budget_id);
  if (then === undefined) return false;
  // The same number in a different currency is a different amount.
  if (now.spend_remaining_micros !== null && now.currency !== then.currency) return false;
  const spendThen = then.spend_remaining_micros === null ? null : BigInt(then.spend_remaining_micros);
  return (
    isNoLess(now.tool_calls_remaining, then.tool_calls_remaining) &&
    isNoLess(now.spend_remaining_micros, spendThen) &&
    isNoLess(now.egress_remaining_bytes, then.egress_remaining_bytes) &&
    isNoLess(now.writes_remaining, then.writes_remaining)
  );
}

/** An amount is `null` when the budget does not limit it. */
function isNoLess<Amount extends number | bigint>(now: Amount | null, then: Amount | null): boolean {
  return now === null || (then !== null && now >= then);
}
