import { accessKeys } from './access-keys/access-keys.ts';
import { approvalTerms } from './voting/approval-terms.ts';
import { approvals } from './approvals/approvals.ts';
import { memberRoles } from './voting/member-roles.ts';
import { answers } from './boundary/answers.ts';
import { dispatches } from './boundary/dispatches.ts';
import { budgets } from './budgets/budgets.ts';
import { budgetUsage } from './budgets/budget-usage.ts';
import { budgetTerms } from './budgets/budget-terms.ts';
import { evidenceEnvelopes } from './envelopes/evidence-envelopes.ts';
import { fenceCommands, fences } from './fences/fences.ts';
import { tenantOrgs } from './fences/tenant-orgs.ts';
import { hostChains, hostDrift, hostReceipts, hostVolumes } from './host-evidence/host-rows.ts';
import { identities } from './identities/identities.ts';
import { identityKeys } from './identities/identity-keys.ts';
import type { AnyControl } from './ledger/control.ts';
import { activationSignatures } from './policy/activation-signatures.ts';
import { policyBundles } from './policy/policy-bundles.ts';
import { policyCeilings } from './policy/policy-ceilings.ts';
import { policyHeads } from './policy/policy-heads.ts';
import { shadowLanes } from './policy/shadow-lanes.ts';
import { toolBlocks } from './policy/tool-blocks.ts';
import { passkeys } from './passkeys/passkeys.ts';
import { relationHeads } from './relations/relation-heads.ts';
import { mcpServers } from './registry/mcp-servers.ts';
import { authProfiles } from './auth-profiles/auth-profiles.ts';
import { registry } from './registry/registry.ts';
import { trustLists } from './trust/trust-lists.ts';
import { sandboxGrants } from './sandbox/sandbox-grants.ts';

/** Everything that decisions read or change, in the order in which its rows are locked; `kernel.append` writes in this order. */
export const controls: readonly AnyControl[] = [
  fenceCommands,
  fences,
  tenantOrgs,
  policyBundles,
  policyHeads,
  policyCeilings,
  shadowLanes,
  activationSignatures,
  toolBlocks,
  identities,
  identityKeys,
  accessKeys,
  approvalTerms,
  passkeys,
  relationHeads,
  memberRoles,
  mcpServers,
  authProfiles,
  sandboxGrants,
  trustLists,
  registry,
  budgetTerms,
  budgets,
  budgetUsage,
  approvals,
  dispatches,
  answers,
  evidenceEnvelopes,
  hostChains,
  hostReceipts,
  hostVolumes,
  hostDrift,
] as readonly unknown[] as readonly AnyControl[]; // each is handed its own keys and rows only
