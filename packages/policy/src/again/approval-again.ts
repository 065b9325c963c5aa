import { canonicalize, parsePlainJson } from '@countersign/crypto';
import { ordinaryApproval, type ApprovalRequest } from '../approval-request.ts';
import type { CompiledPolicy } from '../compile-policy.ts';
import { evaluateRules } from '../evaluate-rules.ts';
import { pass, type Ask, type Gate } from '../gate.ts';
import { gates } from '../gate-table.ts';
import { relationshipAgain } from './relationship-again.ts';
import { endedAgain, knownPolicy, outcomeOf, unknown, type Again } from './recorded-call.ts';

/**
 * A recorded approval counts under its own policy. It also counts under a draft that requires exactly the same
 * approval. Otherwise an unchanged draft would seem to require all approvals again. Under a draft with a different
 * request, the voters are unknown.
 */
export function approvalAgain(again: Again): Gate {
  const { record } = again;
  const outcome = outcomeOf(record, 'approval');
  return (input) => {
    const asksAnew = gates.approval(input);
    if (asksAnew.outcome !== 'escalate') return asksAnew;
    const isSameAsk = asksTheSame(again, input.asks);
    switch (outcome?.outcome) {
      case 'pass':
        return isSameAsk ? pass : unknown(again, ['approval']);
      case 'deny':
        // Without an approval, the call was denied because its approval requests exclude each other.
        if (record.approval_id === null) return asksAnew;
        if (outcome.reason_code === undefined || (outcome.reason_code === 'APPROVAL_TIMELOCKED' && !isSameAsk))
          return unknown(again, ['approval']);
        return endedAgain('deny', outcome.reason_code);
      case 'not_reached':
      case undefined:
        return record.approval_id === null ? asksAnew : unknown(again, ['approval']);
      case 'escalate':
      case 'not_applicable':
        return asksAnew;
    }
  };
}

function asksTheSame(again: Again, asks: readonly Ask[]): boolean {
  const recorded = knownPolicy(again);
  return recorded !== null && textOf(asks.map(({ approval }) => approval)) === textOf(asksThen(again, recorded));
}

/** The approval requests of the recorded policy and its budgets, in the order of the gates. */
function asksThen(again: Again, recorded: CompiledPolicy): ApprovalRequest[] {
  const fact = relationshipAgain({ ...again, draft: recorded, intent: again.sealed });
  const relations = fact.state === 'known' ? fact.value.relations : {};
  const outcome = evaluateRules(recorded, again.sealed, { now: again.record.created_at, relations });
  const byRules = outcome.kind === 'escalate' ? [outcome.approval] : [];
  const byBudget = outcomeOf(again.record, 'budget')?.outcome === 'escalate' ? [ordinaryApproval] : [];
  return [...byRules, ...byBudget];
}

function textOf(requests: readonly ApprovalRequest[]): string {
  return canonicalize(parsePlainJson(JSON.parse(JSON.stringify(requests))));
}
