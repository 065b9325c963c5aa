import type { EffectLevel } from '@countersign/contracts';
import type { Demand, Intent } from '@countersign/policy';
import type { NamedCall } from '../call/governed-call.ts';

const writing = new Set<EffectLevel>(['E2', 'E3', 'E4']);

/** What a call takes from its budgets: counted here where it can be, declared by the door where only the door knows. Thinking is no call. */
export function demandOf({ demand }: NamedCall, { action, effect_level }: Intent): Demand {
  const executes = action !== 'model.call';
  return {
    tool_calls: demand?.tool_calls ?? (executes ? 1 : 0),
    spend_micros: demand?.spend_micros === undefined ? 0n : demand.spend_micros,
    egress_bytes: demand?.egress_bytes ?? 0,
    writes: demand?.writes ?? (executes && writing.has(effect_level) ? 1 : 0),
  };
}
