import type { DecisionId, Digest, PrincipalId, ReceiptId, SessionId, Verdict } from '@countersign/contracts';
import type { HostDriftKind, HostMatch, HostReceipt } from '@countersign/contracts/governance-kernel';
import { goesTo, type NamedDestination } from './destinations.ts';

/** The part of a sealed decision that events are compared with. */
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
  /** The last instant at which an event can belong to this decision. */
  untilMs: number;
  destinations: readonly NamedDestination[];
  /** `null` when no limit is recorded. */
  bytesAllowed: number | null;
};

export type Correlation = {
  intent: SealedIntent | null;
  matchedBy: HostMatch[];
  /** `null` when an ALLOW covers the event. The bytes of the event are counted separately. */
  kind: Exclude<HostDriftKind, 'volume_exceeded'> | null;
};

/** An event may belong to an unsettled decision for this long. */
export const unsettledMs = 300_000;
/**
 * An event may belong to a decision for this long after its outcome, since a recorder may report a connection when it
 * closes.
 */
export const settledMs = 60_000;

/** A name weighs more if only one call has it than if many calls share it. */
const weights: Readonly<Record<HostMatch, number>> = {
  decision: 16,
  session: 8,
  workload: 4,
  destination: 2,
  agent: 1,
};

type Candidate = { intent: SealedIntent; matchedBy: HostMatch[]; weight: number };

/**
 * The best matching decision of an event, and whether it covers the event. A different name excludes a decision, an
 * agent alone does not identify one, and no decision covers earlier events. Among equal matches, the last one before
 * the event decides: a DENY after an ALLOW, or an ALLOW after a DENY.
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
  // A refused call to another destination, or to none, does not concern this event.
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

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.weight !== b.weight) return a.weight > b.weight;
  const [first, second] = [a.intent, b.intent];
  if (first.decidedAtMs !== second.decidedAtMs) return first.decidedAtMs > second.decidedAtMs;
  return first.logIndex > second.logIndex;
}

/** `null` when a name from the recorder differs from the name in the decision. */
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
  for (const [match, output, sealed] of compared) {
    if (output === undefined || sealed === null) continue;
    if (output !== sealed) return null;
    matches.add(match);
  }
  if (intent.destinations.some((destination) => goesTo(event, destination))) matches.add('destination');
  return [...matches];
}
