import { ApprovalId, instantOf } from '@countersign/contracts';
import { similarMax, type SimilarRequests } from '@countersign/contracts/governance-kernel';

/** The columns of an earlier request that show its result. */
export type EarlierRequest = {
  approval_id: string;
  state: string;
  quorum: number;
  approved_by: readonly string[];
  broken_by: string | null;
  updated_at: Date;
};

type Decision = 'approved' | 'denied' | null;

/** Counts the results of earlier requests. `earlier`: newest first, up to `similarMax` and one more. */
export function countSimilar(earlier: readonly EarlierRequest[]): SimilarRequests {
  const counted = earlier.slice(0, similarMax).map((row) => ({ row, decision: decisionOf(row) }));
  const count = (wanted: Decision) => counted.filter(({ decision }) => decision === wanted).length;
  return {
    approved: count('approved'),
    denied: count('denied'),
    undecided: count(null),
    has_more: earlier.length > similarMax,
    latest: latestOf(counted),
  };
}

function latestOf(counted: readonly { row: EarlierRequest; decision: Decision }[]): SimilarRequests['latest'] {
  for (const { row, decision } of counted)
    if (decision !== null)
      return { approval_id: ApprovalId.parse(row.approval_id), decision, decided_at: instantOf(row.updated_at) };
  return null;
}

/** The decision of people, or `null`. An approval that expired or was withdrawn later was still given. */
function decisionOf({ state, quorum, approved_by, broken_by }: EarlierRequest): Decision {
  if (state === 'denied') return 'denied';
  const isGiven = state === 'approved' || state === 'consumed';
  return isGiven || approved_by.length >= quorum || broken_by !== null ? 'approved' : null;
}
