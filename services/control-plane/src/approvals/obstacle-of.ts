import { PrincipalId, type DecisionObstacle } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { samePerson } from '@countersign/policy';

type Person = {
  userId: string;
  /** The gateway's obstacle against it. */
  obstacle: DecisionObstacle | null;
};

/**
 * The obstacle that keeps a person from approving, by the rules that the kernel applies to their vote. `null` when
 * there is none. `null`: nothing.
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
