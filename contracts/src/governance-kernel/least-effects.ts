import type { EffectLevel } from '../scalars.ts';
import type { GovernedChange } from './governed-changes.ts';

/** The actions that mean the same to every tenant, and have no tool that an effect is declared for. */
type KnownAction = GovernedChange | 'model.call' | 'agent.spawn' | 'connector.invoke' | 'data.egress';

/** Actions that widen, lift, delete or leave are hard to take back. */
const leastEffects: Readonly<Record<KnownAction, EffectLevel>> = {
  // Whether it widens stands in its report: who proposes one that does says E3.
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
 * The least effect of an action, for every caller. A caller who could declare a change a read would choose the rule
 * that judges it. The actions of a tenant's own have no least effect.
 */
export function leastEffectOf(action: string): EffectLevel {
  return byAction.get(action) ?? 'E0';
}
