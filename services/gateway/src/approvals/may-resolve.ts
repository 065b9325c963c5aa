import { hasRole } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';

type ResolverFacts = {
  role: Role;
  resolver: string;
  /** The principal that asked: an agent or an API key, never a person. */
  requestedBy: string;
  /** The person who started the run in which the agent asked, or who made the key. */
  startedBy: string;
  /** Whether somebody besides that person is owner or partner. */
  anotherIsEntitled: boolean;
};

/**
 * An owner or partner, but never the requester, which is the agent or the key. The person who started its run or made the key may not decide either where
 * anybody else could, so that four eyes see it wherever there are four. Who is alone in a workspace may decide.
 */
export function mayResolve({ role, resolver, requestedBy, startedBy, anotherIsEntitled }: ResolverFacts): boolean {
  if (!hasRole(role, 'partner') || resolver === requestedBy) return false;
  return resolver !== startedBy || !anotherIsEntitled;
}
