import { z } from 'zod';
import type { FenceScope } from './fences.ts';

/**
 * Changes that people propose and the kernel decides first, each under this action. An owner of the workspace proposes
 * them by an assertion of the gateway; no agent and no key ever does, whatever a policy says.
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

/** The resource of a `fence.lift`: the fence of this scope under this epoch, and no other one. */
export function fenceLiftResource({ scope, epoch }: { scope: FenceScope; epoch: number }): string {
  return `fence:${scope}?epoch=${epoch}`;
}
