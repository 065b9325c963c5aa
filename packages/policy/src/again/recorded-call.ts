import type { GateName, ReasonCode } from '@countersign/contracts';
import type { BoundaryRecord, GateOutcome } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from '../compile-policy.ts';
import { unavailable, type GateResult } from '../gate.ts';
import type { Intent } from '../intent.ts';

export type RecordedPolicy = CompiledPolicy | 'none' | 'unknown';

/** One call that is decided again. */
export type Again = {
  readonly record: BoundaryRecord;
  readonly draft: CompiledPolicy;
  readonly recorded: RecordedPolicy;
  readonly ceilings: readonly string[];
  /** The call as it was sealed, as far as the record holds it. */
  readonly sealed: Intent;
  /** The same with the effect that it has under the draft. */
  readonly intent: Intent;
  readonly origin: Origin;
  /** The values that a reached gate needs and the record lacks. */
  readonly missing: Set<string>;
};

/** The origin of a call's tool: its caller's own, or listed by a declared server. */
export type Origin = 'own' | 'registered' | 'unknown';

/** The server of calls that name a tool which the kernel was to send and does not have. */
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
      return 'registered'; // its server did not answer
  }
}

export function outcomeOf({ gates }: BoundaryRecord, gate: GateName): GateOutcome | undefined {
  return gates.find((outcome) => outcome.gate === gate);
}

/** The policy that the record was made under, where there was one and it is known. */
export function knownPolicy({ recorded }: Pick<Again, 'recorded'>): CompiledPolicy | null {
  return typeof recorded === 'string' ? null : recorded;
}

/** The recorded end of the cycle at a gate: its reason is in the record, and is not read again. */
export function endedAgain(outcome: 'deny' | 'escalate', code: ReasonCode): GateResult {
  // Stryker disable next-line StringLiteral: Its reason is in the record, and is not read again.
  return { outcome, code, reason: '' };
}

/** Ends the cycle at a gate that needs these fields: its result is then not read. */
export function unknown({ missing }: Again, fields: readonly string[]): GateResult {
  for (const field of fields) missing.add(field);
  // Stryker disable next-line StringLiteral: For an incomplete decision, only the missing fields are reported.
  return unavailable('rules');
}
