import { z } from 'zod';
import type { FenceScope } from './fences.ts';

/**
 * Changes that people propose and the kernel decides first, each as this action. Only an owner of the workspace can
 * propose them, with an assertion of the gateway. Agents and keys cannot, regardless of the policy.
 */
export const GovernedChange = z.enum([
  'policy.change',
  'genesis.activate',
  'fence.lift',
  'plan.commit',
  'connector.approve',
  'hold.release',
  'evidence.publish',
  'skill.promote',
  'claim.accept',
  'publication.promote',
  'workspace.delete',
]);
export type GovernedChange = z.infer<typeof GovernedChange>;

export function isGovernedChange(action: string): action is GovernedChange {
  return GovernedChange.safeParse(action).success;
}

/** The resource of a `fence.lift`: the fence of this scope and epoch only. */
export function fenceLiftResource({ scope, epoch }: { scope: FenceScope; epoch: number }): string {
  return `fence:${scope}?epoch=${epoch}`;
}
