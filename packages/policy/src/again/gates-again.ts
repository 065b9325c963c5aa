import { installationCeiling } from '@countersign/contracts/governance-kernel';
import type { GateName } from '@countersign/contracts';
import { mistakenFor } from '../declared-tools.ts';
import { sandboxFact } from '../demanded-facts.ts';
import type { Demand } from '../facts.ts';
import { notApplicable, pass, type Gate, type GateInput, type GateResult } from '../gate.ts';
import { gates, type GateTable } from '../gate-table.ts';
import { approvalAgain } from './approval-again.ts';
import { isMistakenAgain, otherDemand } from './facts-again.ts';
import { isHeld, missingOfRelations, missingReads } from './missing-reads.ts';
import { isSnapshotStale, missingRelations } from './relationship-again.ts';
import { endedAgain, knownPolicy, outcomeOf, unknown, type Again } from './recorded-call.ts';

/**
 * The gates of a repeated decision. A result that no policy can change is kept as sealed. For a result that a policy
 * can change, the gate runs again. A gate that needs missing facts names them, and no later gate runs.
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
    sandbox: sandboxAgain(again),
    egress: egressAgain(again),
    provenance: provenanceAgain(again),
    rules: rulesAgain(again),
    budget: budgetAgain(again),
    approval: approvalAgain(again),
  };
}

/** The sealed result, which applies under every policy. */
function asRecorded(again: Again, gate: GateName): GateResult {
  const found = outcomeOf(again.record, gate);
  switch (found?.outcome) {
    case 'pass':
    case 'not_applicable':
      return pass;
    case 'deny':
    case 'escalate':
      if (found.reason_code === undefined) return unknown(again, [`gates.${gate}`]);
      return endedAgain(found.outcome, found.reason_code);
    case 'not_reached':
    case undefined:
      return unknown(again, [`gates.${gate}`]);
  }
}

function requestAgain(again: Again): Gate {
  return () => {
    const wasRefused = outcomeOf(again.record, 'request')?.outcome !== 'pass';
    if (isMistakenAgain(again))
      return again.origin === 'own' || wasRefused
        ? endedAgain('deny', 'MALFORMED_ARGUMENTS')
        : unknown(again, ['gates.registry']);
    if (!wasRefused) return pass;
    // The call may have been refused for its name alone, so later facts were not read.
    return wasMistaken(again) ? unknown(again, ['gates.fence']) : asRecorded(again, 'request');
  };
}

function wasMistaken(again: Again): boolean {
  const { tool } = again.intent;
  if (tool === null || again.origin === 'registered') return false;
  if (again.recorded === 'unknown') return true;
  const recorded = knownPolicy(again);
  return recorded !== null && mistakenFor(recorded.tools, tool) !== null;
}

/**
 * Adds a condition to the identity gate, the first gate that needs the tools of a call. Hosted tools are in the
 * arguments, which a record may lack.
 */
function identityAgain(again: Again): Gate {
  const { draft, intent } = again;
  const { identities, sandboxed, keptInside } = draft.tools;
  const hosted = 'args.hosted_tools';
  const namesTools = identities.size + sandboxed.size + keptInside.size > 0 || draft.relations.size > 0;
  const isTold = intent.action !== 'model.call' || !namesTools || isHeld(again, hosted);
  return (input) => (isTold ? gates.identity(input) : unknown(again, [hosted]));
}

/**
 * The sealed result is kept if a grant was recorded. It is also kept if the server, not the policy, required a sandbox.
 */
function sandboxAgain(again: Again): Gate {
  const recorded = knownPolicy(again);
  const wasDenied = outcomeOf(again.record, 'sandbox')?.outcome === 'deny';
  const isOthers = wasDenied && sandboxFact(recorded, again.sealed, null).state === 'not_applicable';
  const stands = again.record.sandbox_grant_hash !== null || isOthers;
  return (input) => (stands ? asRecorded(again, 'sandbox') : gates.sandbox(input));
}

function relationshipGate(again: Again): Gate {
  return (input) => {
    if (input.facts.relationship.state === 'not_applicable') return notApplicable;
    if (isSnapshotStale(again)) return endedAgain('deny', 'AUTHZ_SNAPSHOT_STALE');
    const unread = missingOfRelations(again);
    const fields = unread.length > 0 ? unread : missingRelations(again);
    return fields.length > 0 ? unknown(again, fields) : gates.relationship(input);
  };
}

/** No record contains the address of a tool's server. */
function egressAgain(again: Again): Gate {
  const allowed = again.draft.bundle.egress;
  const allowedThen = knownPolicy(again)?.bundle.egress;
  const outcomeThen = outcomeOf(again.record, 'egress')?.outcome;
  return (input) => {
    if (allowed === undefined || again.origin === 'own') return gates.egress(input);
    if (allowedThen !== undefined && outcomeThen === 'not_applicable') return notApplicable;
    const isSameList = JSON.stringify(allowed) === JSON.stringify(allowedThen);
    return isSameList ? asRecorded(again, 'egress') : unknown(again, ['egress.host']);
  };
}

function provenanceAgain(again: Again): Gate {
  const { dispatched_by: by } = again.record;
  return (input) => {
    if (by === undefined) return unknown(again, ['dispatched_by']);
    return by === 'kernel' ? asRecorded(again, 'provenance') : gates.provenance(input);
  };
}

function rulesAgain(again: Again): Gate {
  return (input) => {
    const fields = missingReads(again);
    return fields.length > 0 && again.record.tool_blocked !== true ? unknown(again, fields) : gates.rules(input);
  };
}

/**
 * The remainder of the installation's ceiling is hidden from tenants, so only the recorded outcome of the budget gate
 * is known.
 */
function budgetAgain(again: Again): Gate {
  const { record } = again;
  const otherwise = otherDemand(again);
  const isHidden = record.budgets.some(({ budget_id }) => budget_id === installationCeiling);
  return (input) => {
    if (record.demand === undefined) return unknown(again, ['demand']);
    if (!isHidden) return budgetWithin(again, input, otherwise);
    const outcome = outcomeOf(record, 'budget')?.outcome;
    if (otherwise !== null || outcome === 'not_reached' || outcome === undefined)
      return unknown(again, [`budgets.${installationCeiling}`]);
    return outcome === 'deny' ? asRecorded(again, 'budget') : gates.budget(input);
  };
}

/**
 * The result of the budgets, if both demands give the same result. Otherwise the number of writes is noted as missing.
 */
function budgetWithin(again: Again, input: GateInput, alternative: Demand | null): GateResult {
  const answer = gates.budget(input);
  if (alternative === null) return answer;
  const { outcome } = gates.budget({ ...input, facts: { ...input.facts, demand: alternative } });
  return outcome === answer.outcome ? answer : unknown(again, ['demand.writes']);
}
