import { gateOrder } from '@countersign/contracts';
import type { Digest, GateName } from '@countersign/contracts';
import type { BoundaryRecord, RecordedFence } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { verdictOfTrace } from '@countersign/policy';
import { gateRosterHash } from '@countersign/receipts';
import { exhaustedBudget } from './exhausted-budget.ts';
import { VerificationError } from './verification-error.ts';

/** Gates that judge every call. Any result except `pass` denies it. */
const judgingAlways: ReadonlySet<GateName> = new Set(['request', 'fence', 'policy', 'identity']);
/**
 * Gates that may require an approval, which the last gate then looks for. No gate runs after any other gate that
 * escalates.
 */
const asking: ReadonlySet<GateName> = new Set(['rules', 'budget']);

/**
 * Checks a record: its gates are those of a kernel, the verdict follows from them, and no other member contradicts an
 * ALLOW. Throws {@link VerificationError} `ROSTER_HASH_MISMATCH`, `VERDICT_MISMATCH`.
 */
export function assertTrace(record: BoundaryRecord, provider: CryptoProvider): void {
  const { kind, gates, gate_roster_hash, verdict, reason_code } = record;
  if (rosterHash(gates, provider) !== gate_roster_hash)
    throw new VerificationError('ROSTER_HASH_MISMATCH', 'gate_roster_hash is not the hash of the gates in the trace');
  // A statement has no trace, since it decides nothing.
  const roster = kind === 'decision' ? gateOrder : [];
  if (!isTraceOf(gates, roster)) throw mismatch('the gates in the trace are not the gates of a kernel');
  if (kind !== 'decision') return;
  const traced = verdictOfTrace(gates);
  if (traced?.verdict !== verdict || traced.reason_code !== reason_code)
    throw mismatch('the verdict does not follow from the trace');
  assertBlocked(record);
  const obstacle = verdict === 'ALLOW' ? obstacleOf(record) : null;
  if (obstacle !== null) throw mismatch(`the call was allowed, but ${obstacle}`);
}

/** The hash of the gates of a kernel, by provider. */
const kernelRosterHashes = new WeakMap<CryptoProvider, Digest>();

function rosterHash(gates: BoundaryRecord['gates'], provider: CryptoProvider): Digest {
  if (!isTraceOf(gates, gateOrder))
    return gateRosterHash(
      provider,
      gates.map(({ gate }) => gate),
    );
  const cached = kernelRosterHashes.get(provider);
  if (cached !== undefined) return cached;
  const made = gateRosterHash(provider, gateOrder);
  kernelRosterHashes.set(provider, made);
  return made;
}

/** Whether the gates are those of the roster, in its order. */
function isTraceOf(gates: BoundaryRecord['gates'], roster: readonly GateName[]): boolean {
  return gates.length === roster.length && gates.every(({ gate }, at) => gate === roster[at]);
}

/** The rules gate never passes a blocked tool. An earlier gate may have denied it. */
function assertBlocked({ tool_blocked, gates }: BoundaryRecord): void {
  const rules = gates.find(({ gate }) => gate === 'rules')?.outcome;
  if (tool_blocked === true && rules !== 'deny' && rules !== 'not_reached')
    throw mismatch('the rules gate passed a tool that the workspace blocks');
}

/** The reason in the record why no kernel permits this call, as text. `null` when there is none. */
function obstacleOf(record: BoundaryRecord): string | null {
  const { policy_hash, gates, fences = [], identity } = record;
  if (policy_hash === null) return 'no policy was in force';
  const mute = gates.find(({ gate, outcome }) => !mayLetGo(gate, outcome));
  if (mute !== undefined) return `the outcome of the gate ${mute.gate} is ${mute.outcome}`;
  const fence = fences.find(stops);
  if (fence !== undefined) return `${fence.scope} was under ${fence.kind}`;
  const budget = exhaustedBudget(record);
  if (budget !== undefined) return `the budget ${budget.budget_id} did not cover it`;
  if (identity?.credential_state !== 'active') return 'its credential was not active';
  return identity.enrolment === 'revoked' ? 'its agent was revoked' : null;
}

function mayLetGo(gate: GateName, outcome: BoundaryRecord['gates'][number]['outcome']): boolean {
  if (judgingAlways.has(gate)) return outcome === 'pass';
  if (outcome === 'escalate') return asking.has(gate);
  return gate !== 'rules' || outcome === 'pass';
}

/** No record contains the remaining calls of a throttle for several tenants, so `null` does not stop a call. */
function stops({ kind, calls_remaining: remaining }: RecordedFence): boolean {
  return kind !== 'throttle' || (remaining !== null && remaining <= 0);
}

function mismatch(message: string): VerificationError {
  return new VerificationError('VERDICT_MISMATCH', message);
}
