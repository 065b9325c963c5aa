import { createHash } from 'node:crypto';
import { AppError } from '@countersign/contracts';
import { canonicalize } from '@countersign/crypto';
import { BudgetConfig, ModelConfig, PolicyConfig, type WorkspaceSettings } from '@countersign/contracts/gateway';

export const settingsDefault: WorkspaceSettings = {
  policyConfig: PolicyConfig.parse({}),
  budgetConfig: BudgetConfig.parse({}),
  modelConfig: ModelConfig.parse({}),
};

/** The default settings, with a budget in this currency. */
export function settingsIn(currency: string): WorkspaceSettings {
  return { ...settingsDefault, budgetConfig: BudgetConfig.parse({ currency }) };
}

/**
 * Throws INVALID_REQUEST when the currency of a sent budget differs from that of model prices, since the kernel would
 * refuse it.
 */
export function refuseOtherCurrency({ budgetConfig }: SentSections, prices: string | null): void {
  if (budgetConfig === undefined || prices === null || budgetConfig.currency === prices) return;
  throw new AppError(
    'INVALID_REQUEST',
    `\`currency\` is ${budgetConfig.currency}, and the prices of models are in ${prices}. Set the budget in ${prices}`,
    { param: 'budgetConfig.currency' },
  );
}

type SentSections = { [Section in keyof WorkspaceSettings]?: WorkspaceSettings[Section] | undefined };

/** A sent section replaces the stored section as a whole. The other sections stay. */
export function replaceSections(stored: WorkspaceSettings, sent: SentSections): WorkspaceSettings {
  return {
    policyConfig: sent.policyConfig ?? stored.policyConfig,
    budgetConfig: sent.budgetConfig ?? stored.budgetConfig,
    modelConfig: sent.modelConfig ?? stored.modelConfig,
  };
}

/** A strong ETag: equal settings have equal tags, regardless of their author. */
export function settingsEtag(settings: WorkspaceSettings): string {
  const text = canonicalize(settings); // their schema permits only plain JSON
  return `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"`;
}
