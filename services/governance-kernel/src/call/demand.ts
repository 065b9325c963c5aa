import { microsOf } from '@countersign/contracts';
import type { DeclaredDemand, Demand as RecordedDemand } from '@countersign/contracts/governance-kernel';
import { toolsNamed, writesOf, type Demand, type Intent } from '@countersign/policy';
import type { NamedCall } from './governed-call.ts';

/**
 * What a call takes from its budgets: counted here where it can be, declared by the door where only the door knows. Thinking is no call, unless the
 * model's provider runs tools meanwhile: then it is one call of each of them.
 */
export function demandOf({ demand }: Pick<NamedCall, 'demand'>, intent: Intent): Demand {
  const { action, args } = intent;
  const executes = action !== 'model.call';
  return {
    tool_calls: demand?.tool_calls ?? (executes || toolsNamed(intent).length > 0 ? 1 : 0),
    spend_micros: demand?.spend_micros === undefined ? 0n : demand.spend_micros,
    egress_bytes: Math.max(demand?.egress_bytes ?? 0, executes ? bytesOf(args) : 0),
    writes: demand?.writes ?? writesOf(intent),
  };
}

/** What leaves with a call at least, whatever its caller declares: its arguments. */
function bytesOf(args: Intent['args']): number {
  return Buffer.byteLength(JSON.stringify(args));
}

/** As a caller declares it, who speaks of money in minor units. */
export function declaredDemand({ spend_minor, egress_bytes }: DeclaredDemand = {}): Partial<Demand> {
  return { spend_micros: microsOf(spend_minor ?? 0), egress_bytes: egress_bytes ?? 0 };
}

/** As it is written: JSON has no exact number for money. */
export function recordedDemand({ spend_micros, ...counted }: Demand): RecordedDemand {
  return { ...counted, spend_micros: spend_micros === null ? null : String(spend_micros) };
}
