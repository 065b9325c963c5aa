import type { WorkspaceId } from '@countersign/contracts';
import type { AnyActing } from '../guards.ts';

type PersonBehind = {
  userId: string;
  actor: string;
  /** The one workspace that the key or the authorized program is limited to. `null` when the person called directly. */
  within: WorkspaceId | null;
};

/** The person of a recognised principal. `null` when there is none, and for agents that only the kernel knows. */
export function personBehind(principal: unknown): PersonBehind | null {
  if (typeof principal !== 'object' || principal === null || !('user' in principal)) return null;
  const acting = principal as AnyActing; // the guards recognise no other kind with a user
  const within = 'key' in acting ? acting.key.membership.workspaceId : (acting.within?.workspaceId ?? null);
  return { userId: acting.user.id, actor: acting.actor, within };
}

/** An agent that only the kernel knows. */
export function isKernelAgent(principal: unknown): boolean {
  return typeof principal === 'object' && principal !== null && 'kind' in principal && principal.kind === 'agent';
}
