import { gateOrder } from '@countersign/contracts';
import type { GateName } from '@countersign/contracts';
import type { BoundaryRecord, RecordedFence } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { verdictOfTrace } from '@countersign/policy';
import { gateRosterHash } from '@countersign/receipts';
import { VerificationError } from './verification-error.ts';

/** They judge every call: whatever they say but `pass` lets none go. */
const judgingAlways: ReadonlySet<GateName> = new Set(['request', 'fence', 'policy', 'identity']);
/** They may ask for an approval, which the last gate then looks for. Any other gate that asks has ended the cycle. */
const asking: ReadonlySet<GateName> = new Set(['rules', 'budget']);

/**
 * Checks a record: its gates are those of a kernel, the verdict follows from them, and no other member contradicts an
 * ALLOW. Throws {@link VerificationError} `ROSTER_HASH_MISMATCH`, `VERDICT_MISMATCH`.
 */
export function assertTrace(record: BoundaryRecord, provider: CryptoProvider): void {
  const { kind, gates, gate_roster_hash, verdict, reason_code } = record;
  const names = gates.map(({ gate }) => gate);
  if (gateRosterHash(provider, names) !== gate_roster_hash)
    throw new VerificationError('ROSTER_HASH_MISMATCH', 'gate_roster_hash is not the hash of the gates in the trace');
  // An announcement has no trace: it decides nothing.
  const roster = kind === 'decision' ? gateOrder : [];
  if (names.join() !== roster.join()) throw mismatch('the gates in the trace are not those that a kernel runs');
  if (kind !== 'decision') return;
  const traced = verdictOfTrace(gates);
  if (traced?.verdict !== verdict || traced.reason_code !== reason_code)
    throw mismatch('the verdict is not the one that the trace leads to');
  assertBlocked(record);
  const obstacle = verdict === 'ALLOW' ? obstacleOf(record) : null;
  if (obstacle !== null) throw mismatch(`the call was let go, and ${obstacle}`);
}

/** The rules gate never lets a blocked tool pass; an earlier gate may have denied it. */
function assertBlocked({ tool_blocked, gates }: BoundaryRecord): void {
  const rules = gates.find(({ gate }) => gate === 'rules')?.outcome;
  if (tool_blocked === true && rules !== 'deny' && rules !== 'not_reached')
    throw mismatch('a tool that the workspace blocks passed the rules');
}

/** The obstacle in the record under which no kernel allows a call, in words; `null` when there is none. */
function obstacleOf({ policy_hash, gates, fences = [], identity }: BoundaryRecord): string | null {
  if (policy_hash === null) return 'no policy was in force';
  const mute = gates.find(({ gate, outcome }) => !mayLetGo(gate, outcome));
  if (mute !== undefined) return `the gate ${mute.gate} says ${mute.outcome}`;
  const fence = fences.find(stops);
  if (fence !== undefined) return `${fence.scope} was under ${fence.kind}`;
  if (identity?.credential_state !== 'active') return 'no active credential made it';
  return identity.enrolment === 'revoked' ? 'its agent was revoked' : null;
}

function mayLetGo(gate: GateName, outcome: BoundaryRecord['gates'][number]['outcome']): boolean {
  if (judgingAlways.has(gate)) return outcome === 'pass';
  if (outcome === 'escalate') return asking.has(gate);
  return gate !== 'rules' || outcome === 'pass';
}

/** The remainder of a throttle around several tenants is in no record. */
function stops({ kind, calls_remaining: left }: RecordedFence): boolean {
  return kind !== 'throttle' || (left !== null && left <= 0);
}

function mismatch(message: string): VerificationError {
  return new VerificationError('VERDICT_MISMATCH', message);
}
