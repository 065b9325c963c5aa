import { isOwnRequest, mayDo } from '@countersign/contracts';
import type { ResolverObstacle, Role } from '@countersign/contracts/gateway';

type ResolverFacts = {
  role: Role;
  resolver: string;
  /** The principal that requested the approval: an agent, an API key, or a person who changes the members. */
  requestedBy: string;
  /**
   * The person who started the run of the agent, or who created the key. `null` for other requesters: a person, or an
   * agent with its own key at the kernel. `undefined` when the run or key is unknown.
   */
  startedBy: string | null | undefined;
  /** Whether the workspace has another owner or partner. */
  isAnotherEntitled: boolean;
};

/** Only owners and partners decide, under the four-eyes rule that the kernel applies to votes. */
export function obstacleTo(facts: ResolverFacts): ResolverObstacle | null {
  const { role, resolver, requestedBy, startedBy, isAnotherEntitled } = facts;
  if (!mayDo(role, 'approval.decide')) return 'ROLE';
  if (startedBy === undefined) return 'UNKNOWN_REQUESTER';
  const relation = { isRequester: resolver === requestedBy, isBehind: resolver === startedBy, isAnotherEntitled };
  return isOwnRequest(relation) ? 'OWN_REQUEST' : null;
}
