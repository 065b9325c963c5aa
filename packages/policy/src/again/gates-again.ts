import { installationCeiling } from '@countersign/contracts/governance-kernel';
import type { GateName } from '@countersign/contracts';
import { mistakenFor } from '../declared-tools.ts';
import type { Demand } from '../facts.ts';
import { deny, notApplicable, pass, unavailable, type Gate, type GateInput, type GateResult } from '../gate.ts';
import { gates, type GateTable } from '../gate-table.ts';
import { approvalAgain } from './approval-again.ts';
import { demandsAgain, faultAgain } from './facts-again.ts';
import { isHeld, missingOfRelations, missingReads } from './missing-reads.ts';
import { isSnapshotStale, missingRelations } from './relationship-again.ts';
import { knownPolicy, outcomeOf, type Again } from './recorded-call.ts';

/**
 * The gates of a decision that is made again. What no policy changes stands as it was sealed; what a policy changes is judged by the gate
 * itself. A gate that is reached and would have to know more names it, and ends the cycle.
 */
export function gatesAgain(again: Again): GateTable {
  return {
    request: requestAgain(again),
    fence: () => asRecorded(again, 'fence'),
    policy: gates.policy,
    identity: identityAgain(again),
    relationship: relationshipGate(again),
    registry: () => (again.intent.tool === null ? notApplicable : asRecorded(again, 'registry')),
    arguments: () => (again.intent.tool === null ? notApplicable : asRecorded(again, 'arguments')),
    scopes: () => asRecorded(again, 'scopes'),
    sandbox: gates.sandbox,
    egress: egressAgain(again),
    provenance: provenanceAgain(again),
    rules: rulesAgain(again),
    budget: budgetAgain(again),
    approval: approvalAgain(again),
  };
}

/** As it was sealed, whatever the policy. */
function asRecorded(again: Again, gate: GateName): GateResult {
  const found = outcomeOf(again.record, gate);
  switch (found?.outcome) {
    case 'pass':
      return pass;
    case 'not_applicable':
      return notApplicable;
    case 'deny':
    case 'escalate':
      if (found.reason_code === undefined) return unknown(again, gate, [`gates.${gate}`]);
      return { outcome: found.outcome, code: found.reason_code, reason: found.detail ?? '' };
    case 'not_reached':
    case undefined:
      return unknown(again, gate, [`gates.${gate}`]);
  }
}

function unknown({ missing }: Again, gate: GateName, fields: readonly string[]): GateResult {
  for (const field of fields) missing.add(field);
  return unavailable(gate);
}

function requestAgain(again: Again): Gate {
  return () => {
    const wasRefused = outcomeOf(again.record, 'request')?.outcome !== 'pass';
    const fault = faultAgain(again);
    if (fault !== null)
      return again.origin === 'own' || wasRefused
        ? deny('MALFORMED_ARGUMENTS', fault)
        : unknown(again, 'request', ['gates.registry']);
    if (!wasRefused) return pass;
    // It may have been refused for its name alone, and then nothing behind was looked at.
    return wasMistaken(again) ? unknown(again, 'request', ['gates.fence']) : asRecorded(again, 'request');
  };
}

function wasMistaken(again: Again): boolean {
  const { tool } = again.intent;
  if (tool === null || again.origin === 'registered') return false;
  if (again.recorded === 'unknown') return true;
  const recorded = knownPolicy(again);
  return recorded !== null && mistakenFor(recorded.tools, tool) !== null;
}

/** The first gate that asks which tools a call would run: those that a model's provider runs are among its arguments. */
function identityAgain(again: Again): Gate {
  const { draft, intent } = again;
  const { identities, sandboxed, keptInside } = draft.tools;
  const hosted = 'args.hosted_tools';
  const namesTools = identities.size + sandboxed.size + keptInside.size > 0 || draft.relations.size > 0;
  const isTold = intent.action !== 'model.call' || !namesTools || isHeld(again, hosted);
  return (input) => (isTold ? gates.identity(input) : unknown(again, 'identity', [hosted]));
}

function relationshipGate(again: Again): Gate {
  return (input) => {
    if (input.facts.relationship.state === 'not_applicable') return notApplicable;
    if (isSnapshotStale(again))
      return deny('AUTHZ_SNAPSHOT_STALE', 'The relationship snapshot was older than allowed.');
    const unread = missingOfRelations(again);
    const fields = unread.length > 0 ? unread : missingRelations(again);
    return fields.length > 0 ? unknown(again, 'relationship', fields) : gates.relationship(input);
  };
}

/** Where the server of a tool is, no record tells. */
function egressAgain(again: Again): Gate {
  const allowed = again.draft.bundle.egress;
  const allowedThen = knownPolicy(again)?.bundle.egress;
  const outcomeThen = outcomeOf(again.record, 'egress')?.outcome;
  return (input) => {
    if (allowed === undefined || again.origin === 'own') return gates.egress(input);
    if (allowedThen !== undefined && outcomeThen === 'not_applicable') return notApplicable;
    const isSameList = allowedThen !== undefined && JSON.stringify(allowed) === JSON.stringify(allowedThen);
    return isSameList ? asRecorded(again, 'egress') : unknown(again, 'egress', ['egress.host']);
  };
}

function provenanceAgain(again: Again): Gate {
  const { dispatched_by: by } = again.record;
  return (input) => {
    if (by === undefined) return unknown(again, 'provenance', ['dispatched_by']);
    return by === 'kernel' ? asRecorded(again, 'provenance') : gates.provenance(input);
  };
}

function rulesAgain(again: Again): Gate {
  return (input) => {
    const blocks = input.facts.block;
    if (blocks.state === 'known' && blocks.value.tool_blocked) return gates.rules(input);
    const fields = missingReads(again);
    return fields.length > 0 ? unknown(again, 'rules', fields) : gates.rules(input);
  };
}

/** What is left of the installation's ceiling is no tenant's to see, so there the outcome of then is all that is known. */
function budgetAgain(again: Again): Gate {
  const { record } = again;
  const demands = demandsAgain(again);
  const isHidden = record.budgets.some(({ budget_id }) => budget_id === installationCeiling);
  return (input) => {
    if (record.demand === undefined) return unknown(again, 'budget', ['demand']);
    if (!isHidden)
      return oneAnswer(
        again,
        demands.map((demand) => gates.budget(withDemand(input, demand))),
      );
    const outcome = outcomeOf(record, 'budget')?.outcome;
    if (demands.length > 1 || outcome === 'not_reached' || outcome === undefined)
      return unknown(again, 'budget', [`budgets.${installationCeiling}`]);
    return outcome === 'deny' ? asRecorded(again, 'budget') : gates.budget(input);
  };
}

function withDemand(input: GateInput, demand: Demand): GateInput {
  return { ...input, facts: { ...input.facts, demand } };
}

/** What the budgets say, if they say it whichever the demand was. */
function oneAnswer(again: Again, answers: readonly GateResult[]): GateResult {
  const [first, ...others] = answers;
  const isOne = others.every(({ outcome }) => outcome === first?.outcome);
  return first !== undefined && isOne ? first : unknown(again, 'budget', ['demand.writes']);
}
