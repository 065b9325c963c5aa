import type { PolicyRule } from '@countersign/contracts/governance-kernel';

export type ApprovalRequest = NonNullable<PolicyRule['approval']>;

/** What a rule or budget asks for that says nothing more precise. */
export const ordinaryApproval: ApprovalRequest = { quorum: 1, approvers: [], timeout: 900, scope: 'once' };

/**
 * The approval that satisfies both: the larger quorum, the shorter timeout, the narrower scope, the approvers that both
 * accept. Null when they accept nobody in common, since an empty list would mean "anybody".
 */
export function strictestApproval(left: ApprovalRequest, right: ApprovalRequest): ApprovalRequest | null {
  const approvers = commonApprovers(left.approvers, right.approvers);
  if (approvers === null) return null;
  return {
    quorum: Math.max(left.quorum, right.quorum),
    approvers,
    timeout: Math.min(left.timeout, right.timeout),
    scope: scopeWidth(left.scope) <= scopeWidth(right.scope) ? left.scope : right.scope,
  };
}

/**
 * Does an approval of this scope and lifetime grant no more than was asked for? Whoever asks beforehand words the question, and
 * must not get more uses or a longer life for it than the rule gives.
 */
export function grantsNoMore(
  { scope, timeout }: Pick<ApprovalRequest, 'scope' | 'timeout'>,
  asked: ApprovalRequest,
): boolean {
  return scopeWidth(scope) <= scopeWidth(asked.scope) && timeout <= asked.timeout;
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
