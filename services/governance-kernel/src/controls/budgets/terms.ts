import { AppError, PrincipalId } from '@countersign/contracts';
import { canonicalize } from '@countersign/crypto';
import { meaningOf } from '@countersign/policy';
import { isToolName } from '../../registry/is-tool-name.ts';
import type { BudgetRow, BudgetWindow } from './budget-row.ts';

/** The ceilings of a budget, as its owner sets them. `null` for no ceiling. */
export type BudgetTerms = {
  subject: string;
  window: BudgetWindow;
  tool_call_limit: number | null;
  spend_limit_minor: number | null;
  currency: string | null;
  egress_limit_bytes: number | null;
  write_limit: number | null;
  approval_required_above_minor: number | null;
};

/** Throws INVALID_REQUEST for an amount of money without a currency. */
export function assertTerms({ currency, spend_limit_minor, approval_required_above_minor }: BudgetTerms): void {
  const holdsMoney = spend_limit_minor !== null || approval_required_above_minor !== null;
  if (holdsMoney && currency === null)
    throw new AppError('INVALID_REQUEST', 'A limit in money requires a currency', { param: 'currency' });
}

/**
 * Throws INVALID_REQUEST for a currency other than that of the price table, since the costs of model calls would be
 * counted as amounts in that other currency. `prices` is `null` when no currency of prices is configured.
 */
export function assertCurrencyOfPrices({ currency }: Pick<BudgetTerms, 'currency'>, prices: string | null): void {
  if (currency === null || prices === null || currency === prices) return;
  throw new AppError(
    'INVALID_REQUEST',
    `\`currency\` is ${currency}, and the prices of models are in ${prices}. Set the budget in ${prices}`,
    { param: 'currency' },
  );
}

/**
 * The canonical spelling of a subject, with a tool by the canonical form of its name. Throws INVALID_REQUEST for a
 * subject that no call could have, which would limit nothing.
 */
export function canonicalSubject(subject: string): string {
  const [, kind, name = ''] = /^(principal|agent|tool):(.*)$/s.exec(subject) ?? [];
  if (kind === undefined) return subject;
  const canonical = kind === 'tool' ? meaningOf(name) : name;
  const isNamed = kind === 'tool' ? isToolName(name) : PrincipalId.safeParse(name).success;
  if (isNamed) return `${kind}:${canonical}`;
  throw new AppError('INVALID_REQUEST', `subject matches no ${kind} of a possible call. Check its spelling`, {
    param: 'subject',
  });
}

/** Throws ILLEGAL_TRANSITION when an amount counted in one currency would continue in another. */
export function assertSameMoney(counted: bigint, now: BudgetRow, wanted: Pick<BudgetTerms, 'currency'>): void {
  if (counted === 0n || now.currency === null || now.currency === wanted.currency) return;
  throw new AppError('ILLEGAL_TRANSITION', 'The budget already counts money in a different currency', {
    param: 'currency',
    details: { currency: now.currency, allowed: [] },
  });
}

/**
 * The row of a ceiling under its new terms. Spend in another currency cannot be compared, so the count starts from
 * zero. Throws ILLEGAL_TRANSITION while calls in progress have reservations in the earlier currency.
 */
export function countedIn(row: BudgetRow, terms: BudgetTerms): BudgetRow {
  if (row.currency === terms.currency) return row;
  assertSameMoney(row.reserved.spend_micros, row, terms);
  return { ...row, used: { ...row.used, spend_micros: 0n } };
}

/** Whether the budget already has these terms. */
export function sameTerms(row: BudgetRow, terms: BudgetTerms): boolean {
  return canonicalize(termsOf(row)) === canonicalize({ ...terms });
}

function termsOf({ subject, window, limits, currency, approvalRequiredAboveMinor }: BudgetRow): BudgetTerms {
  return {
    subject,
    window,
    tool_call_limit: limits.tool_calls,
    spend_limit_minor: limits.spend_minor,
    currency,
    egress_limit_bytes: limits.egress_bytes,
    write_limit: limits.writes,
    approval_required_above_minor: approvalRequiredAboveMinor,
  };
}
