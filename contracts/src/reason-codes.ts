import { z } from 'zod';
import type { Verdict } from './scalars.ts';

/** The gates of the decision cycle in their fixed order. The first non-ALLOW outcome wins. */
export const gateOrder = [
  'request',
  'fence',
  'policy',
  'identity',
  'relationship',
  'registry',
  'arguments',
  'scopes',
  'sandbox',
  'egress',
  'provenance',
  'rules',
  'budget',
  'approval',
] as const;
export type GateName = (typeof gateOrder)[number];
export const GateName = z.enum(gateOrder);

type ReasonDefinition = { gate: GateName; verdict: Verdict; nextStep: string };

function deny(gate: GateName, nextStep: string): ReasonDefinition {
  return { gate, verdict: 'DENY', nextStep };
}
function escalate(gate: GateName, nextStep: string): ReasonDefinition {
  return { gate, verdict: 'ESCALATE', nextStep };
}

/** The closed list of reason codes: why a verdict is what it is, and what to do next. */
export const reasonCodes = {
  ALLOWED: { gate: 'rules', verdict: 'ALLOW', nextStep: 'Execute the action.' },
  MALFORMED_ARGUMENTS: deny(
    'request',
    'Send plain JSON arguments within the published limits; call a registered tool by its exact name, as tool.call.',
  ),
  SYSTEM_FROZEN: deny('fence', 'Wait until an operator lifts the freeze; the reason names its scope.'),
  TENANT_QUARANTINED: deny('fence', 'Ask an operator to lift the quarantine of the tenant.'),
  AGENT_QUARANTINED: deny('fence', 'Ask an operator to lift the quarantine of the agent.'),
  TOOL_QUARANTINED: deny('fence', 'Ask an operator to lift the quarantine of the tool or its server.'),
  THROTTLED: deny('fence', 'Slow down; the throttle names its limit.'),
  SETTINGS_MISSING: deny(
    'fence',
    'Wait until the gateway has delivered the settings of the workspace to this kernel, or apply them in the workspace.',
  ),
  FENCE_UNAVAILABLE: deny('fence', 'Restore the kernel store; fences could not be read.'),
  POLICY_MISSING: deny('policy', 'Activate a policy bundle for the tenant.'),
  POLICY_STALE: deny('policy', 'Refresh or re-activate the policy bundle.'),
  POLICY_SIGNATURE_INVALID: deny('policy', 'Activate a bundle signed by a trusted policy key.'),
  CEILING_MISSING: deny('policy', 'Activate a bundle that holds the ceilings of the tenant word for word.'),
  CREDENTIALS_MISSING: deny(
    'identity',
    'Call with a credential of the agent: an access key, an agent token or an assertion of the gateway.',
  ),
  AGENT_UNKNOWN: deny('identity', 'Enrol the agent.'),
  AGENT_REVOKED: deny('identity', 'Use another identity or key; what was revoked stays revoked.'),
  AUTHZ_SNAPSHOT_STALE: deny('relationship', 'Refresh the relationship snapshot.'),
  RELATION_MISSING: deny('relationship', 'Grant the relation that the policy requires.'),
  SERVER_QUARANTINED: escalate('registry', 'Have an operator approve the MCP server.'),
  SERVER_REVOKED: deny('registry', 'Use another server; this one was revoked.'),
  TOOL_UNKNOWN: deny('registry', 'Use a tool that an approved server lists.'),
  SCHEMA_DRIFT: deny('registry', 'Review the changed tool definition and approve its new pin.'),
  REGISTRY_UNAVAILABLE: deny('registry', 'Restore the registry; the tool definition could not be read.'),
  SCHEMA_VIOLATION: deny('arguments', 'Send arguments that satisfy the pinned input schema.'),
  INSUFFICIENT_SCOPE: deny('scopes', 'Obtain a token with the missing scope.'),
  SANDBOX_OVERGRANT: deny('sandbox', 'Ask for no more than the grant holds.'),
  SANDBOX_GRANT_MISSING: deny('sandbox', 'Create a sandbox grant for the tool.'),
  EGRESS_BLOCKED: deny('egress', 'Use an allowed destination.'),
  DIRECT_UPSTREAM_BYPASS: deny('provenance', 'Send the call through the boundary.'),
  TOOL_BLOCKED: deny(
    'rules',
    'Use another tool, or have an owner take the tool off the blocked tools in the settings of the workspace.',
  ),
  POLICY_DENIED: deny('rules', 'Change the call, or ask for a policy change.'),
  NO_MATCHING_RULE: deny('rules', 'Add a policy rule that covers the action.'),
  POLICY_EVALUATION_ERROR: deny('rules', 'Correct the failing rule; a rule that cannot be evaluated denies.'),
  PDP_UNAVAILABLE: deny('rules', 'Restore the policy evaluator.'),
  APPROVAL_REQUIRED: escalate('rules', 'Have the approval decided, then repeat the same call.'),
  BUDGET_EXCEEDED: deny('budget', 'Wait for the window to reset, or raise the ceiling.'),
  PRICE_UNKNOWN: deny(
    'budget',
    'Give the model a price with its largest output in GOV_MODEL_PRICES, or every model one under `*`, and leave out what is priced apart; a budget counts the spend. Set the budget in the currency of the prices (GOV_CURRENCY).',
  ),
  BUDGET_APPROVAL_REQUIRED: escalate('budget', 'Have the spend approved, then repeat the same call.'),
  BUDGET_UNAVAILABLE: deny('budget', 'Restore the kernel store; budgets could not be read.'),
  APPROVAL_EXPIRED: deny('approval', 'Ask for a new approval.'),
  APPROVAL_MISMATCH: deny('approval', 'Repeat exactly the call that was approved, under the same policy.'),
  APPROVAL_PRECONDITION_FAILED: deny(
    'approval',
    'Ask for a new approval; what the reason names is not as it was when this one was asked for.',
  ),
  APPROVAL_TIMELOCKED: deny('approval', 'Repeat the same call after the moment that the reason names.'),
  APPROVAL_CONSUMED: deny('approval', 'Ask for a new approval; this one was used.'),
  APPROVAL_REJECTED: deny('approval', 'The approvers refused; change the call.'),
} as const satisfies Record<string, ReasonDefinition>;

export type ReasonCode = keyof typeof reasonCodes;
export const ReasonCode = z.enum(Object.keys(reasonCodes) as [ReasonCode, ...ReasonCode[]]); // keys of a non-empty constant
