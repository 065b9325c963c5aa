import type { EffectLevel } from '../scalars.ts';
import type { GovernedChange } from './governed-changes.ts';

/** Actions with the same meaning for all tenants, and without a tool that declares their effect. */
type KnownAction = GovernedChange | 'model.call' | 'agent.spawn' | 'connector.invoke' | 'data.egress';

/** Actions that widen, lift, delete or leave are hard to undo. */
const leastEffects: Readonly<Record<KnownAction, EffectLevel>> = {
  // The report states whether a bundle widens the policy. A proposal that widens it declares E3.
  'policy.change': 'E2',
  'claim.accept': 'E2',
  'genesis.activate': 'E3',
  'fence.lift': 'E3',
  'plan.commit': 'E3',
  'connector.approve': 'E3',
  'hold.release': 'E3',
  'evidence.publish': 'E3',
  'skill.promote': 'E3',
  'publication.promote': 'E3',
  'workspace.delete': 'E3',
  'model.call': 'E1',
  'agent.spawn': 'E2',
  'connector.invoke': 'E2',
  'data.egress': 'E3',
};
const byAction: ReadonlyMap<string, EffectLevel> = new Map(Object.entries(leastEffects));

/**
 * The least effect of an action, for all callers. Without it, a caller could declare a change as a read and so choose
 * the rule that decides it. A tenant's own actions have no least effect.
 */
export function leastEffectOf(action: string): EffectLevel {
  return byAction.get(action) ?? 'E0';
}
