import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { missingCeiling } from '../ceilings.ts';
import { mistakenFor } from '../declared-tools.ts';
import { destinationNamed, egressFact, provenanceFact, sandboxFact } from '../demanded-facts.ts';
import type { BudgetFact, Demand, Facts } from '../facts.ts';
import { writesOf } from '../writes-of.ts';
import { relationshipAgain } from './relationship-again.ts';
import type { Again } from './recorded-call.ts';

/**
 * The facts of the decision under the draft. Facts of gates that keep their recorded outcome are not applicable here.
 */
export function factsAgain(again: Again): Facts {
  const { record, draft, intent, ceilings } = again;
  // Stryker disable next-line StringLiteral: Without a dispatcher, the gate does not read the fact.
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
        ? notApplicable // the caller was unknown. The identity gate denies a call without this fact
        : { state: 'known', value: record.identity },
    relationship: relationshipAgain(again),
    registry: notApplicable,
    scopes: notApplicable,
    sandbox: sandboxFact(draft, intent, null),
    egress: egressFact(draft, intent.action === 'data.egress' ? destinationNamed(intent.resource) : null),
    // Stryker disable next-line BooleanLiteral: The gate reads the fact only if the kernel did not dispatch the call.
    provenance: provenanceFact(draft, intent, { dispatchedBy, isClaimed: false }),
    block: { state: 'known', value: { tool_blocked: record.tool_blocked === true } },
    budgets: { state: 'known', value: record.budgets.map(budgetOf) },
    demand: takenBy(record),
    // Stryker disable next-line StringLiteral: It is compared only with an approval, and there is none.
    judged_hash: '',
    approval: notApplicable,
  };
}

const notApplicable = { state: 'not_applicable' } as const;
const signedNow = { epoch: 0, signature_valid: true, is_newest: true, age_ms: 0, age_max_ms: 0 };

/**
 * Whether the name of the tool is a look-alike under the draft. All other faults of a call are in the recorded trace.
 */
export function isMistakenAgain({ draft, intent: { tool }, origin }: Again): boolean {
  return tool !== null && origin !== 'registered' && mistakenFor(draft.tools, tool) !== null;
}

/**
 * The alternative demand of the call under the draft. `null` when there is none. If the caller declares no number of
 * writes, the effect of the call determines it. A record does not show whether the number was declared. There is an
 * alternative only if the recorded number fits the recorded effect, and the draft gives another number.
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

function budgetOf(remainder: BoundaryRecord['budgets'][number]): BudgetFact {
  const { spend_remaining_micros: spend } = remainder;
  return { ...remainder, spend_remaining_micros: spend === null ? null : BigInt(spend) };
}
