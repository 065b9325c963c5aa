import { isAppError, type BudgetId, type PrincipalId } from '@countersign/contracts';
import { installationCeiling } from '@countersign/contracts/governance-kernel';
import { ConfigError } from '@countersign/service-kit';
import type { StoredBudget } from './budget-row.ts';
import { changeBudget, type BudgetParts } from './change-budget.ts';
import { installationBudgets, type ModelSpendLimit } from './installation-ceiling.ts';
import { countedIn, sameTerms, type BudgetTerms } from './terms.ts';

const id = installationCeiling as BudgetId; // within its schema
/** The author of the configuration. */
const operator = 'operator' as PrincipalId; // within its schema

/**
 * Makes the ceiling that of the configuration, sealed when it changes. Several kernels may do it at once. Another
 * currency starts from zero. Throws ConfigError for one while calls are on their way that are held in the earlier one.
 */
export async function setInstallationCeiling(parts: BudgetParts, limit: ModelSpendLimit): Promise<void> {
  const terms = termsOf(limit);
  const { tenant } = installationBudgets;
  const change = { tenant, id, terms, by: operator, carryOn: countedIn };
  await changeBudget(parts, { ...change, versionAfter: (standing) => versionAfter(standing, terms) }).catch(
    (cause: unknown) => {
      if (!isAppError(cause)) throw cause;
      throw new ConfigError([
        `the ceiling of model spend cannot be set while calls are on their way: ${cause.message}`,
      ]);
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

function versionAfter(standing: StoredBudget | null, terms: BudgetTerms): number | null {
  if (standing === null) return 1;
  return sameTerms(standing.row, terms) ? null : standing.version + 1;
}
