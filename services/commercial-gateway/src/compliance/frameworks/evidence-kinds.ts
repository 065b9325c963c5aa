import type { EvidenceKind } from './evidence-query.ts';

const decision = { kinds: ['decision'] } as const;
const setting = { kinds: ['policy', 'trust'] } as const;

/** Every kind of evidence that a control can name. A query names only receipts and entries that this product writes. */
export const evidenceKinds = {
  decisions: {
    shows: 'Each governed action was recorded automatically, with its verdict, before it ran.',
    missing: 'No decision was recorded in the period.',
    receipts: decision,
  },
  allowed_tool_calls: {
    shows: 'Tool calls ran only after a policy allowed them.',
    missing: 'No allowed tool call was recorded in the period.',
    receipts: { ...decision, verdicts: ['ALLOW'], hasTool: true },
  },
  outcomes: {
    shows: 'The result of each dispatched action was recorded and bound to its decision.',
    missing: 'No outcome of an action was recorded in the period.',
    receipts: { kinds: ['outcome'] },
  },
  failed_outcomes: {
    shows: 'Actions that failed, or whose result is unknown, were recorded.',
    missing: 'No failed or uncertain outcome was recorded in the period.',
    receipts: { kinds: ['outcome'], outcomes: ['failed', 'uncertain'] },
  },
  denials: {
    shows: 'Actions outside of the policy were refused.',
    missing: 'No action was denied in the period, so receipts do not show that the boundary refuses.',
    receipts: { ...decision, verdicts: ['DENY'] },
  },
  rule_denials: {
    shows: 'Rules of the policy refused actions.',
    missing: 'No rule refused an action in the period.',
    receipts: { ...decision, verdicts: ['DENY'], gates: ['rules', 'relationship', 'scopes'] },
  },
  identity_denials: {
    shows: 'Unknown or revoked agents were refused.',
    missing: 'No action was refused for its identity in the period.',
    receipts: { ...decision, verdicts: ['DENY'], gates: ['identity'] },
  },
  identity_changes: {
    shows: 'Enrolment, revocation and keys of agents were recorded.',
    missing: 'No agent was enrolled or revoked, and no key changed, in the period.',
    receipts: { kinds: ['trust'], actions: ['identity.', 'access_key.'] },
  },
  passkey_changes: {
    shows: 'Enrolment and revocation of the passkeys of approvers were recorded.',
    missing: 'No passkey of an approver changed in the period.',
    receipts: { kinds: ['trust'], actions: ['passkey.'] },
  },
  registry_denials: {
    shows: 'Unknown, revoked or changed tools and servers were refused or held.',
    missing: 'No call was refused for its tool or server in the period.',
    receipts: { ...decision, verdicts: ['DENY', 'ESCALATE'], gates: ['registry', 'arguments'] },
  },
  sandbox_denials: {
    shows: 'Calls beyond their sandbox grant were refused.',
    missing: 'No call was refused for its sandbox grant in the period.',
    receipts: { ...decision, verdicts: ['DENY'], gates: ['sandbox'] },
  },
  egress_denials: {
    shows: 'Connections to destinations that are not allowed were refused.',
    missing: 'No call was refused for its destination in the period.',
    receipts: { ...decision, verdicts: ['DENY'], gates: ['egress', 'provenance'] },
  },
  escalations: {
    shows: 'Actions were held until a person decided.',
    missing: 'No action was held for a person in the period.',
    receipts: { ...decision, verdicts: ['ESCALATE'] },
  },
  approvals: {
    shows: 'People approved actions, each bound to exactly one action.',
    missing: 'No person approved an action in the period.',
    receipts: { kinds: ['approval'], actions: ['approval.approve'] },
  },
  rejections: {
    shows: 'People refused or withdrew actions that waited for them.',
    missing: 'No person refused an action in the period.',
    receipts: { kinds: ['approval'], actions: ['approval.deny', 'approval.revoke'] },
  },
  approved_actions: {
    shows: 'Actions ran under an approval that was recorded before.',
    missing: 'No action ran under an approval in the period.',
    receipts: { ...decision, verdicts: ['ALLOW'], hasApproval: true },
  },
  stop_changes: {
    shows: 'Operators set or lifted a freeze, quarantine or throttle.',
    missing: 'No operator used a stop in the period.',
    receipts: { ...setting, actions: ['fence.set'] },
  },
  stop_denials: {
    shows: 'A stop was effective: actions in its scope were refused.',
    missing: 'No action was refused by a stop in the period.',
    receipts: { ...decision, verdicts: ['DENY'], gates: ['fence'] },
  },
  budget_denials: {
    shows: 'Actions beyond a budget were refused or held.',
    missing: 'No action was refused or held by a budget in the period.',
    receipts: { ...decision, verdicts: ['DENY', 'ESCALATE'], gates: ['budget'] },
  },
  budget_changes: {
    shows: 'Budgets were set, with the time and the author of each change.',
    missing: 'No budget changed in the period.',
    receipts: { ...setting, actions: ['budget.change'] },
  },
  policy_changes: {
    shows: 'Each policy that applied was activated with a signature, and the activation was recorded.',
    missing: 'No policy was activated in the period.',
    receipts: { kinds: ['policy'], actions: ['policy.change'] },
  },
  policy_proposals: {
    shows: 'Changes of the policy were decided as governed actions before they applied.',
    missing: 'No change of the policy was decided as a governed action in the period.',
    receipts: { ...decision, actions: ['policy.change'] },
  },
  ceilings: {
    shows: 'Ceilings that no policy can remove were set.',
    missing: 'No ceiling was set in the period.',
    receipts: { kinds: ['policy'], actions: ['policy.ceiling'] },
  },
  tool_blocks: {
    shows: 'Owners blocked or released tools of a workspace.',
    missing: 'No tool was blocked or released in the period.',
    receipts: { ...setting, actions: ['policy.block'] },
  },
  relation_changes: {
    shows: 'Changes of who may act on what were recorded.',
    missing: 'No relation between principals and objects changed in the period.',
    receipts: { ...setting, actions: ['relations.change'] },
  },
  conformance_runs: {
    shows: 'A conformance run tested that the boundary denies what it must deny.',
    missing: 'No conformance run was recorded in the period.',
    receipts: { kinds: ['conformance'] },
  },
  exports: {
    shows: 'Evidence was exported with a signed statement of its completeness.',
    missing: 'No evidence was exported in the period.',
    receipts: { kinds: ['head', 'period'] },
  },
  identity_provider_changes: {
    shows:
      'Changes of single sign-on, domains, role mappings and provisioning tokens were recorded in the audit chain.',
    missing: 'No identity setting of the organisation changed in the period.',
    audit: { keeper: 'commercial-gateway', actions: ['identity.', 'scim_token.'] },
  },
  organisation_changes: {
    shows: 'Suspensions, exceptions and licences of the organisation were recorded in the audit chain.',
    missing: 'No suspension, exception or licence of the organisation changed in the period.',
    audit: { keeper: 'commercial-gateway', actions: ['org_settings.', 'licence.'] },
  },
  member_changes: {
    shows:
      'Members, their roles, invitations and API keys of workspaces have entries in the audit chain of each workspace.',
    missing: 'No member, role, invitation or API key of a workspace changed in the period.',
    audit: { keeper: 'gateway', actions: ['member.', 'invite.', 'api_key.'] },
  },
  incident_records: {
    shows: 'Incidents, and each step of their handling, have entries in the audit chain of their workspace.',
    missing: 'No incident was opened or handled in the period.',
    audit: { keeper: 'control-plane', actions: ['incident.'] },
  },
  connector_changes: {
    shows: 'Installation, approval and removal of connectors have entries in the audit chain of each workspace.',
    missing: 'No connector was installed, approved or disabled in the period.',
    audit: { keeper: 'control-plane', actions: ['connector.', 'shim.'] },
  },
} as const satisfies Record<string, EvidenceKind>;

export type EvidenceName = keyof typeof evidenceKinds;

/** Returns a kind of evidence, typed with its optional members. */
export function evidenceKindOf(name: EvidenceName): EvidenceKind {
  return evidenceKinds[name];
}
