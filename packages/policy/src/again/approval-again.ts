import { canonicalize, parsePlainJson } from '@countersign/crypto';
import { ordinaryApproval, type ApprovalRequest } from '../approval-request.ts';
import { evaluateRules } from '../evaluate-rules.ts';
import { deny, unavailable, type Ask, type Gate } from '../gate.ts';
import { gates } from '../gate-table.ts';
import { relationshipAgain } from './relationship-again.ts';
import { knownPolicy, outcomeOf, type Again } from './recorded-call.ts';

/**
 * An approval that was given counts for the policy it was given under. Under a draft that asks for the very same it is taken as given, or
 * a draft that changes nothing would seem to ask everybody anew; under one that asks for something else nobody knows who would have
 * answered.
 */
export function approvalAgain(again: Again): Gate {
  const { record } = again;
  const outcome = outcomeOf(record, 'approval');
  return (input) => {
    const asksAnew = gates.approval(input);
    if (asksAnew.outcome !== 'escalate') return asksAnew;
    const isSameAsk = sameAsks(input.asks, asksThen(again));
    switch (outcome?.outcome) {
      case 'pass':
        return isSameAsk ? { outcome: 'pass', consumes_approval: true } : told(again);
      case 'deny':
        // Without an approval it was denied because its asks exclude each other.
        if (record.approval_id === null) return asksAnew;
        if (outcome.reason_code === undefined || (outcome.reason_code === 'APPROVAL_TIMELOCKED' && !isSameAsk))
          return told(again);
        return deny(outcome.reason_code, outcome.detail ?? '');
      case 'not_reached':
      case undefined:
        return record.approval_id === null ? asksAnew : told(again);
      case 'escalate':
      case 'not_applicable':
        return asksAnew;
    }
  };
}

function told({ missing }: Again) {
  missing.add('approval');
  return unavailable('approval');
}

/** What the policy of then and its budgets asked for, in the order of the gates. */
function asksThen(again: Again): ApprovalRequest[] {
  const recorded = knownPolicy(again);
  if (recorded === null) return [];
  const fact = relationshipAgain({ ...again, draft: recorded, intent: again.sealed });
  const relations = fact.state === 'known' ? fact.value.relations : {};
  const outcome = evaluateRules(recorded, again.sealed, { now: again.record.created_at, relations });
  const byRules = outcome.kind === 'escalate' ? [outcome.approval] : [];
  const byBudget = outcomeOf(again.record, 'budget')?.outcome === 'escalate' ? [ordinaryApproval] : [];
  return [...byRules, ...byBudget];
}

function sameAsks(asks: readonly Ask[], then: readonly ApprovalRequest[]): boolean {
  const texts = (requests: readonly ApprovalRequest[]) =>
    canonicalize(parsePlainJson(JSON.parse(JSON.stringify(requests))));
  return texts(asks.map(({ approval }) => approval)) === texts(then);
}
