import { gateOrder } from '@countersign/contracts';
import type { GateName } from '@countersign/contracts';
import type { GateOutcome } from '@countersign/contracts/governance-kernel';
import { validateWithAjv } from './ajv-validator.ts';
import type { ArgumentValidator } from './argument-validator.ts';
import type { CompiledPolicy } from './compile-policy.ts';
import type { Decision } from './decision.ts';
import { evaluateRules } from './evaluate-rules.ts';
import type { Facts } from './facts.ts';
import { failClosedCodes } from './gate.ts';
import type { Ask, GateInput, GateResult, RuleEvaluator } from './gate.ts';
import { gates, type GateTable } from './gate-table.ts';
import type { Intent } from './intent.ts';

const detailLengthMax = 512;

type Progress = {
  trace: GateOutcome[];
  asks: Ask[];
  rules: string[];
  reason: string;
  consumesApproval: boolean;
  end: Ending | null;
};
type DecisionInput = Omit<GateInput, 'asks'> & { table: GateTable };
/** The injected dependencies of a decision. */
type Judging = { table: GateTable; validateArguments: ArgumentValidator };
type Ending = Extract<GateResult, { outcome: 'deny' | 'escalate' }>;

/**
 * The decision: all gates of `gateOrder`, in order, over one frozen set of facts. Pure: no clock, no I/O, no
 * randomness, so the same input gives the same result. It never throws: a gate that fails denies with its own code. No
 * gate runs after the first one that denies or escalates. A rule or a budget may request an approval. The next gates
 * then still run, and the approval gate decides last. Repeated decisions replace `table`, and tests replace it to show
 * that a missing gate is detected. A browser whose content security policy forbids generated code replaces
 * `validateArguments`.
 */
export function decide(
  policy: CompiledPolicy | null,
  intent: Intent,
  facts: Facts,
  evaluate: RuleEvaluator = evaluateRules,
  { table = gates, validateArguments = validateWithAjv }: Partial<Judging> = {},
): Decision {
  return decideFrom({ policy, intent, facts, evaluate, validateArguments, table });
}

function decideFrom({ table, policy, intent, facts, evaluate, validateArguments }: DecisionInput): Decision {
  const progress: Progress = {
    trace: [],
    asks: [],
    rules: [],
    reason: 'Every gate passed.',
    consumesApproval: false,
    end: null,
  };
  const gateInput: GateInput = { policy, intent, facts, evaluate, validateArguments, asks: progress.asks };
  for (const gate of gateOrder) {
    if (progress.end !== null) progress.trace.push({ gate, outcome: 'not_reached' });
    else advance(progress, gate, runGate(table, gate, gateInput));
  }
  return decisionOf(progress);
}

function runGate(table: GateTable, gate: GateName, input: GateInput): GateResult {
  try {
    return table[gate](input);
  } catch {
    return { outcome: 'deny', code: failClosedCodes[gate], reason: `The gate "${gate}" could not judge its facts.` };
  }
}

function advance(progress: Progress, gate: GateName, result: GateResult): void {
  progress.trace.push(traceOf(gate, result));
  // Stryker disable next-line ConditionalExpression,StringLiteral: A gate without a judgement has no rules.
  if (result.outcome === 'not_applicable') return;
  switch (result.outcome) {
    case 'pass':
      progress.rules.push(...(result.rules ?? []));
      progress.reason = result.reason ?? progress.reason;
      progress.consumesApproval ||= result.consumes_approval === true;
      return;
    case 'ask':
      progress.rules.push(...result.rules);
      progress.asks.push(result.ask);
      return;
    case 'deny':
      progress.rules.push(...(result.rules ?? []));
      progress.end = result;
      return;
    case 'escalate':
      progress.end = result;
  }
}

// An approval request stays visible as `escalate` with its code, even if the approval gate then passes the call.
function traceOf(gate: GateName, result: GateResult): GateOutcome {
  switch (result.outcome) {
    case 'not_applicable':
      return { gate, outcome: 'not_applicable' };
    case 'pass':
      return result.detail === undefined
        ? { gate, outcome: 'pass' }
        : { gate, outcome: 'pass', detail: clip(result.detail) };
    case 'ask':
      return { gate, outcome: 'escalate', reason_code: result.ask.code, detail: clip(result.ask.reason) };
    case 'deny':
    case 'escalate':
      return { gate, outcome: result.outcome, reason_code: result.code, detail: clip(result.reason) };
  }
}

function decisionOf({ trace, rules, reason, consumesApproval, end }: Progress): Decision {
  const decision: Decision = {
    verdict: 'ALLOW',
    reason_code: 'ALLOWED',
    reason: end === null ? reason : end.reason,
    trace,
    matched_rules: rules,
    // Stryker disable next-line ConditionalExpression: The approval gate is last, so no gate has ended the cycle.
    consumes_approval: end === null && consumesApproval,
  };
  if (end === null) return decision;
  decision.verdict = end.outcome === 'deny' ? 'DENY' : 'ESCALATE';
  decision.reason_code = end.code;
  if (end.outcome === 'escalate' && end.approval !== undefined) decision.approval_request = end.approval;
  return decision;
}

function clip(text: string): string {
  if (text.length <= detailLengthMax) return text;
  // Half of a surrogate pair cannot be sealed.
  return `${text.slice(0, detailLengthMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
