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
 * An owner or partner other than the requester. The requester is the agent; the person who started its run is kept out too as
 * soon as anybody else could decide, so that four eyes see it wherever there are four. Alone in a workspace one may decide.
 */
export function mayResolve({ role, resolver, requestedBy, startedBy, anotherIsEntitled }: ResolverFacts): boolean {
  if (!hasRole(role, 'partner') || resolver === requestedBy) return false;
  return resolver !== startedBy || !anotherIsEntitled;
}
