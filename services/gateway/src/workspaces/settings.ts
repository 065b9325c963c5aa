import { createHash } from 'node:crypto';
import { canonicalize } from '@countersign/crypto';
import { BudgetConfig, ModelConfig, PolicyConfig, type WorkspaceSettings } from '@countersign/contracts/gateway';

export const settingsDefault: WorkspaceSettings = {
  policyConfig: PolicyConfig.parse({}),
  budgetConfig: BudgetConfig.parse({}),
  modelConfig: ModelConfig.parse({}),
};

type SentSections = { [Section in keyof WorkspaceSettings]?: WorkspaceSettings[Section] | undefined };

/** A section that is sent replaces the stored one whole; the others stay. */
export function replaceSections(stored: WorkspaceSettings, sent: SentSections): WorkspaceSettings {
  return {
    policyConfig: sent.policyConfig ?? stored.policyConfig,
    budgetConfig: sent.budgetConfig ?? stored.budgetConfig,
    modelConfig: sent.modelConfig ?? stored.modelConfig,
  };
}

/** A strong ETag: equal settings have equal tags, whoever wrote them. */
export function settingsEtag(settings: WorkspaceSettings): string {
  const text = canonicalize(settings); // parsed by its contract, so plain JSON
  return `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"`;
}
