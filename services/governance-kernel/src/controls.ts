import { accessKeys } from './controls/access-keys/access-keys.ts';
import { approvalTerms } from './controls/voting/approval-terms.ts';
import { approvals } from './controls/approvals/approvals.ts';
import { memberRoles } from './controls/voting/member-roles.ts';
import { answers } from './decision/answers.ts';
import { dispatches } from './decision/dispatches.ts';
import { budgets } from './controls/budgets/budgets.ts';
import { budgetUsage } from './controls/budgets/budget-usage.ts';
import { budgetTerms } from './controls/budgets/budget-terms.ts';
import { evidenceEnvelopes } from './controls/evidence/evidence-envelopes.ts';
import { fenceCommands, fences } from './controls/fences/fences.ts';
import { tenantOrgs } from './controls/fences/tenant-orgs.ts';
import { hostChains, hostDrift, hostReceipts, hostVolumes } from './controls/evidence/host-rows.ts';
import { identities } from './controls/identities/identities.ts';
import { identityKeys } from './controls/identities/identity-keys.ts';
import type { AnyControl } from './ledger/control.ts';
import { activationSignatures } from './controls/policy/activation-signatures.ts';
import { policyBundles } from './controls/policy/policy-bundles.ts';
import { policyCeilings } from './controls/policy/policy-ceilings.ts';
import { policyHeads } from './controls/policy/policy-heads.ts';
import { shadowLanes } from './controls/policy/shadow-lanes.ts';
import { toolBlocks } from './controls/policy/tool-blocks.ts';
import { passkeys } from './controls/passkeys/passkeys.ts';
import { relationHeads } from './controls/relations/relation-heads.ts';
import { mcpServers } from './registry/mcp-servers.ts';
import { authProfiles } from './controls/auth-profiles/auth-profiles.ts';
import { registry } from './registry/registry.ts';
import { trustLists } from './controls/evidence/trust-lists.ts';
import { sandboxGrants } from './controls/sandbox/sandbox-grants.ts';

/**
 * All state that the ledger reads or writes in its batches, in the order in which its rows are locked. `kernel.append`
 * writes in this order.
 */
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
] as readonly unknown[] as readonly AnyControl[]; // each control receives only its own keys and rows
