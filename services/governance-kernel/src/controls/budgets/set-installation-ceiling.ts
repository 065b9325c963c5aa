import { isAppError, type BudgetId, type PrincipalId } from '@countersign/contracts';
import { installationCeiling } from '@countersign/contracts/governance-kernel';
import { ConfigError } from '@countersign/service-kit';
import type { StoredBudget } from './budget-row.ts';
import { changeBudget, type BudgetDeps } from './change-budget.ts';
import { installationBudgets, type ModelSpendLimit } from './installation-ceiling.ts';
import { countedIn, sameTerms, type BudgetTerms } from './terms.ts';

const id = installationCeiling as BudgetId; // its schema accepts this text
/** The author of the configuration. */
const operator = 'operator' as PrincipalId; // its schema accepts this text

/**
 * Sets the ceiling to that of the configuration, and seals a change. Several kernels may call this at once. A new
 * currency starts from zero. Throws ConfigError for another currency while calls in progress have reservations in the
 * earlier one.
 */
export async function setInstallationCeiling(deps: BudgetDeps, limit: ModelSpendLimit): Promise<void> {
  const terms = termsOf(limit);
  const { tenant } = installationBudgets;
  const change = { tenant, id, terms, by: operator, carryOn: countedIn };
  await changeBudget(deps, { ...change, versionAfter: (current) => versionAfter(current, terms) }).catch(
    (cause: unknown) => {
      if (!isAppError(cause) || cause.code !== 'ILLEGAL_TRANSITION') throw cause;
      throw new ConfigError([`the ceiling of model spend cannot be set while calls are in progress: ${cause.message}`]);
    },
  );
}

function termsOf({ limitMinor, currency, window }: ModelSpendLimit): BudgetTerms {
  return {
    subject: installationBudgets.subject,
    window,
    tool_call_limit: null,
    spend_limit_minor: limitMinor,
    currency,
    egress_limit_bytes: null,
    write_limit: null,
    approval_required_above_minor: null,
  };
}

function versionAfter(current: StoredBudget | null, terms: BudgetTerms): number | null {
  if (current === null) return 1;
  return sameTerms(current.row, terms) ? null : current.version + 1;
}
