import { microsOf } from '@countersign/contracts';
import type { DeclaredDemand, Demand as RecordedDemand } from '@countersign/contracts/governance-kernel';
import { toolsNamed, writesOf, type Demand } from '@countersign/policy';
import type { NamedCall } from './governed-call.ts';
import type { SealedIntent } from './normalise.ts';

/**
 * The demand of a call on its budgets. Values that the route does not state are counted here. A model call is not a
 * tool call, unless the model's provider may run tools during it. Then each of its budgets counts one tool call.
 */
export function demandOf({ demand }: Pick<NamedCall, 'demand'>, intent: SealedIntent): Demand {
  const { action, args_bytes: sent } = intent;
  const executes = action !== 'model.call';
  return {
    tool_calls: demand?.tool_calls ?? (executes || toolsNamed(intent).length > 0 ? 1 : 0),
    spend_micros: demand?.spend_micros === undefined ? 0n : demand.spend_micros,
    egress_bytes: Math.max(demand?.egress_bytes ?? 0, executes ? sent : 0),
    writes: demand?.writes ?? writesOf(intent),
  };
}

/** The demand as a caller declares it, with money in minor units. */
export function declaredDemand({ spend_minor, egress_bytes }: DeclaredDemand = {}): Partial<Demand> {
  return { spend_micros: microsOf(spend_minor ?? 0), egress_bytes: egress_bytes ?? 0 };
}

/** The demand as it is recorded: JSON has no exact number for money. */
export function recordedDemand({ tool_calls, spend_micros, egress_bytes, writes }: Demand): RecordedDemand {
  return { tool_calls, spend_micros: spend_micros === null ? null : String(spend_micros), egress_bytes, writes };
}
