import type { Digest } from '@countersign/contracts';
import type { ApprovalPreconditions } from '@countersign/contracts/governance-kernel';
import type { ApprovalRequest, Fact, RegistryFact } from '@countersign/policy';
import type { BudgetRow } from '../budgets/budget-row.ts';
import { remainderOf } from '../budgets/reserve.ts';

/** The preconditions of an approval of this call, in addition to the call and the policy. */
export function preconditionsOf(
  registry: Fact<RegistryFact> | null,
  { request, budgets }: { request: Pick<ApprovalRequest, 'unchanged'>; budgets: readonly BudgetRow[] },
): ApprovalPreconditions {
  const pinned = registry?.state === 'known' ? (registry.value.tool?.pinned_hash ?? null) : null;
  return {
    tool_definition_hash: pinned as Digest | null, // the registry hashes with digestOf
    budgets: request.unchanged === undefined ? null : budgets.map(remainderOf),
  };
}
