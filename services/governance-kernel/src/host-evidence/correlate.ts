import type { DecisionId, Digest, PrincipalId, ReceiptId, SessionId, Verdict } from '@countersign/contracts';
import type { HostDriftKind, HostMatch, HostReceipt } from '@countersign/contracts/governance-kernel';
import { goesTo, type NamedDestination } from './destinations.ts';

/** A sealed decision, as far as events are compared with it. */
export type SealedIntent = {
  logIndex: number;
  receiptId: ReceiptId;
  decisionId: DecisionId;
  verdict: Verdict;
  session: SessionId;
  principal: PrincipalId;
  serverId: string | null;
  grantHash: Digest | null;
  workload: string | null;
  decidedAtMs: number;
  /** The last moment at which an event can be of this decision. */
  untilMs: number;
  destinations: readonly NamedDestination[];
  /** `null`: no limit is recorded. */
  bytesAllowed: number | null;
};

export type Correlation = {
  intent: SealedIntent | null;
  matchedBy: HostMatch[];
  /** `null`: an ALLOW covers the event. The bytes are counted elsewhere. */
  kind: Exclude<HostDriftKind, 'volume_exceeded'> | null;
};

/** An event is of a decision that no outcome settles for so long. */
export const unsettledMs = 300_000;
/** And for so long after its outcome: a recorder may report a connection when it closes. */
export const settledMs = 60_000;

/** A name that only this call has says more than one that many share. */
const weights: Readonly<Record<HostMatch, number>> = {
  decision: 16,
  session: 8,
  workload: 4,
  destination: 2,
  agent: 1,
};

type Candidate = { intent: SealedIntent; matchedBy: HostMatch[]; weight: number };

/**
 * The best match of an event, and whether it covers it. A name that differs rules a decision out, an agent alone leads to none, and no decision
 * covers what was before it. Among equal matches the last before the event decides: a DENY behind an ALLOW, or an ALLOW behind a DENY.
 */
export function correlate({ subject, event }: HostReceipt, intents: readonly SealedIntent[]): Correlation {
  const atMs = Date.parse(event.observed_at);
  const candidates = intents.flatMap((intent): Candidate[] => {
    if (intent.decidedAtMs > atMs || intent.untilMs < atMs) return [];
    const matchedBy = matchesOf(subject, event, intent);
    const weight = matchedBy?.reduce((sum, match) => sum + weights[match], 0) ?? 0;
    return matchedBy === null || weight <= weights.agent ? [] : [{ intent, matchedBy, weight }];
  });
  const named = candidates.find(({ matchedBy }) => matchedBy.includes('decision'));
  if (named !== undefined) return judged(named);
  const going = best(candidates.filter(({ matchedBy }) => matchedBy.includes('destination')));
  if (going !== null) return judged(going);
  // A refusal to go elsewhere says nothing of this event, nor does a call that goes nowhere.
  const elsewhere = candidates.filter(({ intent }) => intent.verdict === 'ALLOW' && intent.destinations.length > 0);
  const nearest = best(elsewhere);
  return nearest === null ? { intent: null, matchedBy: [], kind: 'without_intent' } : judged(nearest);
}

function judged({ intent, matchedBy }: Candidate): Correlation {
  if (intent.verdict !== 'ALLOW') return { intent, matchedBy, kind: 'after_deny' };
  return { intent, matchedBy, kind: matchedBy.includes('destination') ? null : 'destination_mismatch' };
}

function best(candidates: readonly Candidate[]): Candidate | null {
  return candidates.reduce<Candidate | null>(
    (found, one) => (found === null || isBetter(one, found) ? one : found),
    null,
  );
}

function isBetter(one: Candidate, other: Candidate): boolean {
  if (one.weight !== other.weight) return one.weight > other.weight;
  const [first, second] = [one.intent, other.intent];
  if (first.decidedAtMs !== second.decidedAtMs) return first.decidedAtMs > second.decidedAtMs;
  return first.logIndex > second.logIndex;
}

/** Null: a name that the recorder gives is another one in the decision. */
function matchesOf(
  subject: HostReceipt['subject'],
  event: HostReceipt['event'],
  intent: SealedIntent,
): HostMatch[] | null {
  const compared: [HostMatch, string | undefined, string | null][] = [
    ['decision', subject.decision_id, intent.decisionId],
    ['session', subject.session_id, intent.session],
    ['workload', subject.mcp_server_id, intent.serverId],
    ['workload', subject.sandbox_grant_hash, intent.grantHash],
    ['workload', subject.workload_id, intent.workload],
    ['agent', subject.agent_id, intent.principal],
  ];
  const matches = new Set<HostMatch>();
  for (const [match, told, sealed] of compared) {
    if (told === undefined || sealed === null) continue;
    if (told !== sealed) return null;
    matches.add(match);
  }
  if (intent.destinations.some((destination) => goesTo(event, destination))) matches.add('destination');
  return [...matches];
}
