import { PrincipalId, type DecisionObstacle } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { samePerson } from '@countersign/policy';

type Person = {
  userId: string;
  /** The obstacle that the gateway reports. */
  obstacle: DecisionObstacle | null;
};

/**
 * The obstacle that keeps a person from approving, by the rules that the kernel applies to votes. `null` when there is
 * none.
 */
export function obstacleOf(
  { requested_by, approvers, approved_by }: Pick<Approval, 'requested_by' | 'approvers' | 'approved_by'>,
  { userId, obstacle }: Person,
): DecisionObstacle | null {
  const person = PrincipalId.parse(userId);
  if (obstacle !== null) return obstacle;
  if (samePerson(requested_by, person)) return 'OWN_REQUEST';
  if (approvers.length > 0 && !approvers.includes(person)) return 'NOT_NAMED';
  return approved_by.some((voter) => samePerson(voter, person)) ? 'ALREADY_APPROVED' : null;
}
