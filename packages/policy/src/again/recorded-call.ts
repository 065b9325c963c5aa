import type { GateName, ReasonCode } from '@countersign/contracts';
import type { BoundaryRecord, GateOutcome } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from '../compile-policy.ts';
import { unavailable, type GateResult } from '../gate.ts';
import type { Intent } from '../intent.ts';

export type RecordedPolicy = CompiledPolicy | 'none' | 'unknown';

/** One call whose decision is repeated. */
export type Again = {
  readonly record: BoundaryRecord;
  readonly draft: CompiledPolicy;
  readonly recorded: RecordedPolicy;
  readonly ceilings: readonly string[];
  /** The sealed call, as far as the record contains it. */
  readonly sealed: Intent;
  /** The call with its effect under the draft. */
  readonly intent: Intent;
  readonly origin: Origin;
  /** The values that a gate needs and the record lacks. */
  readonly missing: Set<string>;
};

/** The origin of a call's tool: its caller, or a registered server. */
export type Origin = 'own' | 'registered' | 'unknown';

/** The recorded server id of a tool that the kernel should dispatch but does not have. */
const nobodysServer = 'countersign';

export function originOf(record: BoundaryRecord): Origin {
  if (record.intent.tool === null || record.mcp_server_id === nobodysServer) return 'own';
  if (record.mcp_server_id !== null) return 'registered';
  switch (outcomeOf(record, 'registry')?.outcome) {
    case 'not_applicable':
      return 'own';
    case 'not_reached':
    case undefined:
      return 'unknown';
    default:
      return 'registered'; // the server of the tool did not answer
  }
}

export function outcomeOf({ gates }: BoundaryRecord, gate: GateName): GateOutcome | undefined {
  return gates.find((outcome) => outcome.gate === gate);
}

/** The policy of the record. `null` when there was none, or when it is unknown. */
export function knownPolicy({ recorded }: Pick<Again, 'recorded'>): CompiledPolicy | null {
  return typeof recorded === 'string' ? null : recorded;
}

/** The recorded denial or escalation of a gate. Its reason is in the record, and is not computed again. */
export function endedAgain(outcome: 'deny' | 'escalate', code: ReasonCode): GateResult {
  // Stryker disable next-line StringLiteral: The reason is in the record, and is not read here.
  return { outcome, code, reason: '' };
}

/** Notes these fields as missing, and denies so that no later gate runs. The denial itself is ignored. */
export function unknown({ missing }: Again, fields: readonly string[]): GateResult {
  for (const field of fields) missing.add(field);
  // Stryker disable next-line StringLiteral: For an incomplete decision, only the missing fields are reported.
  return unavailable('rules');
}
