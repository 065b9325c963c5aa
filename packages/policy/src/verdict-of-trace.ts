import type { ReasonCode, Verdict } from '@countersign/contracts';
import type { GateOutcome } from '@countersign/contracts/governance-kernel';

/**
 * The verdict of a trace. Either the last gate reached denies or escalates, or every gate lets the call pass. After an
 * approval request of a rule or a budget, later gates still run. The approval gate is last and passes only a granted
 * call. `null` for a trace that no decision produces.
 */
export function verdictOfTrace(trace: readonly GateOutcome[]): { verdict: Verdict; reason_code: ReasonCode } | null {
  const end = lastReached(trace);
  const last = trace[end];
  if (last === undefined || trace.some((gate, at) => at < end && isEnd(gate))) return null;
  if (last.outcome !== 'deny' && last.outcome !== 'escalate') {
    const asksAreMet = last.outcome === 'pass' || !trace.some(({ outcome }) => outcome === 'escalate');
    return end === trace.length - 1 && asksAreMet ? { verdict: 'ALLOW', reason_code: 'ALLOWED' } : null;
  }
  if (last.reason_code === undefined) return null;
  return { verdict: last.outcome === 'deny' ? 'DENY' : 'ESCALATE', reason_code: last.reason_code };
}

/** A loop, because a callback for each gate takes several times as long. */
function lastReached(trace: readonly GateOutcome[]): number {
  let end = trace.length - 1;
  while (trace[end]?.outcome === 'not_reached') end -= 1;
  return end;
}

function isEnd({ outcome }: GateOutcome): boolean {
  return outcome === 'deny' || outcome === 'not_reached';
}
