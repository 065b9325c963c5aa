import { visibleText } from '@countersign/contracts';
import type { Budget } from '@countersign/contracts/governance-kernel';
import { ceilingsOf } from './amounts.ts';

type Fullest = { share: number; words: string };

/** The ceiling with the largest used or reserved share. `undefined` when no budget has a ceiling. */
export function fullestOf(budgets: readonly Budget[]): Fullest | undefined {
  const shares = budgets.flatMap((budget) =>
    ceilingsOf(budget).map(({ what, limit, used, reserved, show }) => ({
      share: limit === 0 ? 1 : (used + reserved) / limit,
      words: `${show(used)} of ${show(limit)} ${what} in ${visibleText(budget.budget_id)}`,
    })),
  );
  return shares.toSorted((a, b) => b.share - a.share)[0];
}
