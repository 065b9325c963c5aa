import type { Role } from '@countersign/contracts/gateway';
import { hasRole } from '../workspaces/role.ts';

type ResolverFacts = {
  role: Role;
  resolver: string;
  /** The principal that asked: an agent, never a person. */
  requestedBy: string;
  /** The person who started the run in which the agent asked. */
  startedBy: string;
  /** Whether somebody besides the starter is owner or partner. */
  anotherIsEntitled: boolean;
};

/**
 * An owner or partner, but never the requester, which is the agent. The person who started its run may not decide either where
 * anybody else could, so that four eyes see it wherever there are four. Who is alone in a workspace may decide.
 */
export function mayResolve({ role, resolver, requestedBy, startedBy, anotherIsEntitled }: ResolverFacts): boolean {
  if (!hasRole(role, 'partner') || resolver === requestedBy) return false;
  return resolver !== startedBy || !anotherIsEntitled;
}
