import { isOwnRequest, mayDo } from '@countersign/contracts';
import type { ResolverObstacle, Role } from '@countersign/contracts/gateway';

type ResolverFacts = {
  role: Role;
  resolver: string;
  /** The principal that requested: an agent or an API key, never a person. */
  requestedBy: string;
  /**
   * The person who started the run in which the agent requested, or who made the key. `null` when the agent has a key of its own at the
   * kernel; `undefined` when the run or key is unknown.
   */
  startedBy: string | null | undefined;
  /** Whether the workspace has another owner or partner. */
  isAnotherEntitled: boolean;
};

/** An owner or partner decides, by the rule of four eyes that the kernel applies to the vote. */
export function obstacleTo(facts: ResolverFacts): ResolverObstacle | null {
  const { role, resolver, requestedBy, startedBy, isAnotherEntitled } = facts;
  if (!mayDo(role, 'approval.decide')) return 'ROLE';
  if (startedBy === undefined) return 'UNKNOWN_REQUESTER';
  const standing = { isRequester: resolver === requestedBy, isBehind: resolver === startedBy, isAnotherEntitled };
  return isOwnRequest(standing) ? 'OWN_REQUEST' : null;
}
