import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { missingCeiling } from '../ceilings.ts';
import { mistakenFor } from '../declared-tools.ts';
import { destinationNamed, egressFact, provenanceFact, sandboxFact } from '../demanded-facts.ts';
import type { BudgetFact, Demand, Facts } from '../facts.ts';
import { writesOf } from '../writes-of.ts';
import { relationshipAgain } from './relationship-again.ts';
import type { Again } from './recorded-call.ts';

/**
 * The facts of the decision under the draft. Those of a gate whose outcome stands in the record are not applicable here: nobody asks for
 * them. What is only told where it is known, the table of gates finds out first.
 */
export function factsAgain(again: Again): Facts {
  const { record, draft, intent, ceilings } = again;
  // Stryker disable next-line StringLiteral: Where nobody is named, the gate does not ask for the fact.
  const { dispatched_by: dispatchedBy = 'nobody' } = record;
  return {
    now: record.created_at,
    request: notApplicable,
    fence: notApplicable,
    settings: notApplicable,
    policy: {
      state: 'known',
      value: { hash: draft.hash, ...signedNow, missing_ceiling: missingCeiling(draft, ceilings) },
    },
    identity:
      // Stryker disable next-line ConditionalExpression: Without an identity the gate fails, and denies with the same code.
      record.identity === undefined
        ? notApplicable // nobody knew who called, and that gate judges every call
        : { state: 'known', value: record.identity },
    relationship: relationshipAgain(again),
    registry: notApplicable,
    scopes: notApplicable,
    sandbox: sandboxFact(draft, intent),
    egress: egressFact(draft, intent.action === 'data.egress' ? destinationNamed(intent.resource) : null),
    // Stryker disable next-line BooleanLiteral: The gate asks for the fact only where it was not the kernel.
    provenance: provenanceFact(draft, intent, { dispatchedBy, isClaimed: false }),
    block: { state: 'known', value: { tool_blocked: record.tool_blocked === true } },
    budgets: { state: 'known', value: record.budgets.map(budgetOf) },
    demand: takenBy(record),
    // Stryker disable next-line StringLiteral: It is compared with an approval alone, and none is there.
    judged_hash: '',
    approval: notApplicable,
  };
}

const notApplicable = { state: 'not_applicable' } as const;
const signedNow = { epoch: 0, signature_valid: true, is_newest: true, age_ms: 0, age_max_ms: 0 };

/** Does the draft take the name of the tool for a lookalike? What else was wrong with a call stands in its trace. */
export function isMistakenAgain({ draft, intent: { tool }, origin }: Again): boolean {
  return tool !== null && origin !== 'registered' && mistakenFor(draft.tools, tool) !== null;
}

/**
 * What the call may take under the draft instead of what it took; null: nothing else. Who says nothing of its writes has them counted by
 * its effect, and a record does not hold who said what: it tells them apart only where what was taken is not the count of its effect.
 */
export function otherDemand({ record, sealed, intent }: Again): Demand | null {
  const taken = takenBy(record);
  const wasCounted = taken.writes === writesOf(sealed);
  const counted = writesOf(intent);
  return wasCounted && counted !== taken.writes ? { ...taken, writes: counted } : null;
}

function takenBy({ demand: { spend_micros: spend, ...counts } = nothingTaken }: BoundaryRecord): Demand {
  return { ...counts, spend_micros: spend === null ? null : BigInt(spend) };
}

const nothingTaken = { tool_calls: 0, spend_micros: '0', egress_bytes: 0, writes: 0 };

function budgetOf(left: BoundaryRecord['budgets'][number]): BudgetFact {
  const { spend_remaining_micros: spend } = left;
  return { ...left, spend_remaining_micros: spend === null ? null : BigInt(spend) };
}
