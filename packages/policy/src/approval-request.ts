import type { PolicyRule } from '@countersign/contracts/governance-kernel';
import type { Preconditions } from './preconditions.ts';

export type ApprovalRequest = NonNullable<PolicyRule['approval']>;

/** The default approval request of a rule or budget. */
export const ordinaryApproval: ApprovalRequest = { quorum: 1, approvers: [], timeout: 900, scope: 'once' };

/**
 * The approval that satisfies both requests: the larger quorum, the shorter timeout, the narrower scope, the longer
 * time lock, the common approvers, and `unchanged` if either has it. `null` when no approval satisfies both. Either
 * they have no common approver (an empty list would mean any), or the time lock is not shorter than the timeout.
 */
export function strictestApproval(left: ApprovalRequest, right: ApprovalRequest): ApprovalRequest | null {
  const approvers = commonApprovers(left.approvers, right.approvers);
  const timeout = Math.min(left.timeout, right.timeout);
  const timelock = Math.max(left.timelock ?? 0, right.timelock ?? 0);
  const unchanged = left.unchanged ?? right.unchanged;
  if (approvers === null || timelock >= timeout) return null;
  return {
    quorum: Math.max(left.quorum, right.quorum),
    approvers,
    timeout,
    // Stryker disable next-line EqualityOperator: Scopes of equal width grant the same.
    scope: scopeWidth(left.scope) <= scopeWidth(right.scope) ? left.scope : right.scope,
    ...(timelock === 0 ? {} : { timelock }),
    ...(unchanged === undefined ? {} : { unchanged }),
  };
}

type Granted = Pick<ApprovalRequest, 'scope' | 'timeout'> & { timelock: number; preconditions: Preconditions };

/**
 * Whether an approval of this scope, lifetime, time lock and condition grants no more than `request`. A caller may
 * request an approval in advance, in its own terms. It must not get more uses, a longer life or an earlier use than the
 * rule permits.
 */
export function grantsNoMore({ scope, timeout, timelock, preconditions }: Granted, request: ApprovalRequest): boolean {
  return (
    scopeWidth(scope) <= scopeWidth(request.scope) &&
    timeout <= request.timeout &&
    timelock >= (request.timelock ?? 0) &&
    (request.unchanged === undefined || preconditions.budgets !== null)
  );
}

function commonApprovers(left: readonly string[], right: readonly string[]): string[] | null {
  if (left.length === 0) return [...right];
  if (right.length === 0) return [...left];
  const common = left.filter((approver) => right.includes(approver));
  return common.length === 0 ? null : common;
}

function scopeWidth(scope: string): number {
  if (scope === 'once') return 1;
  if (scope.startsWith('uses:')) return Number(scope.slice('uses:'.length));
  return scope === 'session' ? 10_000 : 10_001;
}
