import { microsOf, toolOfFunctionName } from '@countersign/contracts';
import type { BudgetRemainder } from '@countersign/contracts/governance-kernel';
import { foldedToolName, type BudgetFact, type Demand } from '@countersign/policy';
import type { BudgetAmounts, BudgetRow } from './budget-row.ts';
import { isInstallationCeiling } from './installation-ceiling.ts';

/** The subjects whose budgets limit this call. A budget of another subject cannot exist: its table refuses it. */
export function budgetSubjects({ principal, tools }: Limited): string[] {
  const ofTools = tools.flatMap((tool) => spellingsOf(tool).map((name) => `tool:${name}`));
  // Each once: what two names share is taken of once.
  return [...new Set(['tenant', `principal:${principal}`, `agent:${principal}`, ...ofTools])];
}

type Limited = {
  principal: string;
  /** All that the call would run: of a model call, what it lets its provider run. */
  tools: readonly string[];
};

/** `files.read`, `files__read` and what reads like them are one tool: a budget of it counts the calls of all. */
function spellingsOf(tool: string): string[] {
  const names = [tool, foldedToolName(tool)].flatMap((name) => {
    const dotted = toolOfFunctionName(name);
    return [name, dotted, dotted.replace('.', '__'), dotted.replace('.', '_')];
  });
  return [...new Set(names)];
}

/** The demand of a call on each of its budgets. */
export function amountsOf({ spend_micros, ...counted }: Demand): BudgetAmounts {
  // Where a budget counts money, a call without a known price was denied; elsewhere it takes none.
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

/** The same as it is written: JSON has no exact number for money. */
export function remainderOf(budget: BudgetRow): BudgetRemainder {
  if (isInstallationCeiling(budget)) return { budget_id: budget.id, ...nothingTold };
  const left = budgetFact(budget);
  const { spend_remaining_micros: spend } = left;
  return { ...left, budget_id: budget.id, spend_remaining_micros: spend === null ? null : String(spend) };
}

/** Records are their tenant's to read, and this would tell what others have used. */
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

/** Takes the demand now: for calls whose end the kernel never hears of. */
export function spend(budget: BudgetRow, demand: BudgetAmounts): BudgetRow {
  return { ...budget, used: combine(budget.used, demand, 1) };
}

/** Holds the demand until the call is settled. */
export function reserve(budget: BudgetRow, demand: BudgetAmounts): BudgetRow {
  return { ...budget, reserved: combine(budget.reserved, demand, 1) };
}

/** Turns a reservation into what was really used. */
export function settleReservation(budget: BudgetRow, held: BudgetAmounts, actual: BudgetAmounts): BudgetRow {
  const reserved = combine(budget.reserved, held, -1);
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

/** Beyond 2^53 numbers stop counting; an amount that would not fit its column must not take the batch of others down. */
function bounded(amount: number): number {
  return Math.max(0, Math.min(amount, Number.MAX_SAFE_INTEGER));
}

/** The range of PostgreSQL's bigint; a limit is a ninth of it at most. */
const microsMax = 9_000_000_000_000_000_000n;

function boundedMicros(micros: bigint): bigint {
  // Stryker disable next-line EqualityOperator: Nothing is answered for nothing.
  if (micros < 0n) return 0n;
  return micros > microsMax ? microsMax : micros;
}
