import type { EffectLevel } from '@countersign/contracts';
import type { Demand } from '@countersign/policy';
import type { GovernedCall } from '../call/governed-call.ts';

const writing = new Set<EffectLevel>(['E2', 'E3', 'E4']);
const executing = new Set(['tool.call', 'connector.invoke', 'agent.spawn']);

/** What a call takes from its budgets: counted here where it can be, declared by the route where only the route knows. */
export function demandOf({ action, effectLevel, demand }: GovernedCall): Demand {
  const executes = executing.has(action);
  return {
    tool_calls: demand?.tool_calls ?? (executes ? 1 : 0),
    spend_minor: demand?.spend_minor ?? 0,
    egress_bytes: demand?.egress_bytes ?? 0,
    writes: demand?.writes ?? (executes && writing.has(effectLevel) ? 1 : 0),
  };
}
