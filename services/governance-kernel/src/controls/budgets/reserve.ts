import { microsOf, toolOfFunctionName } from '@countersign/contracts';
import type { BudgetRemainder } from '@countersign/contracts/governance-kernel';
import { foldedToolName, remembered, type BudgetFact, type Demand } from '@countersign/policy';
import type { BudgetAmounts, BudgetRow } from './budget-row.ts';
import { isInstallationCeiling } from './installation-ceiling.ts';

/** The subjects whose budgets limit this call. The table refuses budgets of other subjects. */
export function budgetSubjects({ principal, tools }: Limited): string[] {
  const subjects = ['tenant', `principal:${principal}`, `agent:${principal}`];
  for (const tool of tools) subjects.push(...subjectsOfTool(tool));
  // Deduplicated: a budget that two names share is charged once.
  return tools.length < 2 ? subjects : [...new Set(subjects)];
}

type Limited = {
  principal: string;
  /** All tools that the call would run. For a model call, those that its provider may run. */
  tools: readonly string[];
};

/**
 * `files.read`, `files__read` and equivalent spellings are one tool, so a budget for it counts calls under all of these
 * names.
 */
const subjectsOfTool = remembered((tool): readonly string[] => {
  const names = [tool, foldedToolName(tool)].flatMap((name) => {
    const dotted = toolOfFunctionName(name);
    return [name, dotted, dotted.replace('.', '__'), dotted.replace('.', '_')];
  });
  return [...new Set(names)].map((name) => `tool:${name}`);
});

/** The demand of a call on each of its budgets. */
export function amountsOf({ spend_micros, ...counted }: Demand): BudgetAmounts {
  // A budget that counts money denies a call without a known price. Other budgets do not read the spend.
  return { ...counted, spend_micros: spend_micros ?? 0n };
}

/** The remainder of a budget for this decision. */
export function budgetFact(budget: BudgetRow): BudgetFact {
  const { limits, used, reserved } = budget;
  const spent = used.spend_micros + reserved.spend_micros;
  return {
    budget_id: budget.id,
    tool_calls_remaining: remaining(budget, 'tool_calls'),
    spend_remaining_micros: limits.spend_minor === null ? null : microsOf(limits.spend_minor) - spent,
    egress_remaining_bytes: remaining(budget, 'egress_bytes'),
    writes_remaining: remaining(budget, 'writes'),
    approval_required_above_minor: budget.approvalRequiredAboveMinor,
    currency: budget.currency,
  };
}

/** The remainder as a record contains it. Money is text, since JSON numbers are not exact. */
export function remainderOf(budget: BudgetRow): BudgetRemainder {
  if (isInstallationCeiling(budget)) return { budget_id: budget.id, ...nothingTold };
  const rest = budgetFact(budget);
  const { spend_remaining_micros: spend } = rest;
  return { ...rest, budget_id: budget.id, spend_remaining_micros: spend === null ? null : String(spend) };
}

/** Tenants read their records, and the amounts of the installation's ceiling would reveal the usage of others. */
const nothingTold = {
  tool_calls_remaining: null,
  spend_remaining_micros: null,
  egress_remaining_bytes: null,
  writes_remaining: null,
  approval_required_above_minor: null,
  currency: null,
};

function remaining({ limits, used, reserved }: BudgetRow, amount: Counted): number | null {
  const limit = limits[amount];
  return limit === null ? null : limit - used[amount] - reserved[amount];
}

type Counted = Exclude<keyof BudgetAmounts, 'spend_micros'>;

/** Spends the demand now: for a call whose end the kernel never learns, or for reported usage. */
export function spend(budget: BudgetRow, demand: BudgetAmounts): BudgetRow {
  return { ...budget, used: combine(budget.used, demand, 1) };
}

/** Reserves the demand until the call is settled. */
export function reserve(budget: BudgetRow, demand: BudgetAmounts): BudgetRow {
  return { ...budget, reserved: combine(budget.reserved, demand, 1) };
}

/** Replaces a reservation by the actual usage. */
export function settleReservation(budget: BudgetRow, reservation: BudgetAmounts, actual: BudgetAmounts): BudgetRow {
  const reserved = combine(budget.reserved, reservation, -1);
  return { ...budget, reserved, used: combine(budget.used, actual, 1) };
}

function combine(amounts: BudgetAmounts, change: BudgetAmounts, sign: 1 | -1): BudgetAmounts {
  const moved = (amount: Counted) => bounded(amounts[amount] + sign * change[amount]);
  return {
    tool_calls: moved('tool_calls'),
    spend_micros: boundedMicros(amounts.spend_micros + BigInt(sign) * change.spend_micros),
    egress_bytes: moved('egress_bytes'),
    writes: moved('writes'),
  };
}

/** Numbers above 2^53 are inexact, and an amount that exceeds its column would fail the whole batch. */
function bounded(amount: number): number {
  return Math.max(0, Math.min(amount, Number.MAX_SAFE_INTEGER));
}

/** Within the range of PostgreSQL's bigint. A limit is at most a ninth of this value. */
const microsMax = 9_000_000_000_000_000_000n;

function boundedMicros(micros: bigint): bigint {
  // Stryker disable next-line EqualityOperator: Both return 0 for 0.
  if (micros < 0n) return 0n;
  return micros > microsMax ? microsMax : micros;
}
