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

/**
 * What a denial concerns. `call`: this call alone, and another one may be allowed. `moment`: a fact could not be read, and the same call may be allowed
 * a moment later. `run`: the next call would meet it too, or it is somebody's word.
 */
type Concern = 'call' | 'moment' | 'run';

type ReasonDefinition = { gate: GateName; verdict: Verdict; concerns: Concern | null; nextStep: string };

function deny(gate: GateName, concerns: Concern, nextStep: string): ReasonDefinition {
  return { gate, verdict: 'DENY', concerns, nextStep };
}
function escalate(gate: GateName, nextStep: string): ReasonDefinition {
  return { gate, verdict: 'ESCALATE', concerns: null, nextStep };
}

/** The closed list of reason codes: why a verdict is what it is, and what to do next. */
export const reasonCodes = {
  ALLOWED: { gate: 'rules', verdict: 'ALLOW', concerns: null, nextStep: 'Execute the action.' },
  MALFORMED_ARGUMENTS: deny(
    'request',
    'call',
    'Send plain JSON arguments within the published limits; call a registered tool by its exact name, as tool.call.',
  ),
  SYSTEM_FROZEN: deny('fence', 'run', 'Wait until an operator lifts the freeze; the reason names its scope.'),
  TENANT_QUARANTINED: deny('fence', 'run', 'Ask an operator to lift the quarantine of the tenant.'),
  AGENT_QUARANTINED: deny('fence', 'run', 'Ask an operator to lift the quarantine of the agent.'),
  TOOL_QUARANTINED: deny('fence', 'call', 'Ask an operator to lift the quarantine of the tool or its server.'),
  THROTTLED: deny('fence', 'run', 'Slow down; the throttle names its limit.'),
  SETTINGS_MISSING: deny(
    'fence',
    'run',
    'Wait until the gateway has delivered the settings of the workspace to this kernel, or apply them in the workspace.',
  ),
  FENCE_UNAVAILABLE: deny('fence', 'moment', 'Restore the kernel store; fences could not be read.'),
  POLICY_MISSING: deny('policy', 'run', 'Activate a policy bundle for the tenant.'),
  POLICY_STALE: deny('policy', 'run', 'Refresh or re-activate the policy bundle.'),
  POLICY_SIGNATURE_INVALID: deny('policy', 'run', 'Activate a bundle signed by a trusted policy key.'),
  CEILING_MISSING: deny('policy', 'run', 'Activate a bundle that holds the ceilings of the tenant word for word.'),
  CREDENTIALS_MISSING: deny(
    'identity',
    'run',
    'Call with a credential of the agent: an access key, an agent token or an assertion of the gateway.',
  ),
  AGENT_UNKNOWN: deny('identity', 'run', 'Enrol the agent.'),
  AGENT_REVOKED: deny('identity', 'run', 'Use another identity or key; what was revoked stays revoked.'),
  AUTHZ_SNAPSHOT_STALE: deny('relationship', 'run', 'Refresh the relationship snapshot.'),
  RELATION_MISSING: deny('relationship', 'call', 'Grant the relation that the policy requires.'),
  SERVER_QUARANTINED: escalate('registry', 'Have an operator approve the MCP server.'),
  SERVER_REVOKED: deny('registry', 'call', 'Use another server; this one was revoked.'),
  TOOL_UNKNOWN: deny('registry', 'call', 'Use a tool that an approved server lists.'),
  SCHEMA_DRIFT: deny('registry', 'run', 'Review the changed tool definition and approve its new pin.'),
  REGISTRY_UNAVAILABLE: deny('registry', 'moment', 'Restore the registry; the tool definition could not be read.'),
  SCHEMA_VIOLATION: deny('arguments', 'call', 'Send arguments that satisfy the pinned input schema.'),
  INSUFFICIENT_SCOPE: deny('scopes', 'call', 'Obtain a token with the missing scope.'),
  SANDBOX_OVERGRANT: deny('sandbox', 'call', 'Ask for no more than the grant holds.'),
  SANDBOX_GRANT_MISSING: deny('sandbox', 'run', 'Create a sandbox grant for the tool.'),
  EGRESS_BLOCKED: deny('egress', 'call', 'Use an allowed destination.'),
  DIRECT_UPSTREAM_BYPASS: deny('provenance', 'run', 'Send the call through the boundary.'),
  TOOL_BLOCKED: deny(
    'rules',
    'call',
    'Use another tool, or have an owner take the tool off the blocked tools in the settings of the workspace.',
  ),
  POLICY_DENIED: deny('rules', 'call', 'Change the call, or ask for a policy change.'),
  NO_MATCHING_RULE: deny('rules', 'call', 'Add a policy rule that covers the action.'),
  POLICY_EVALUATION_ERROR: deny('rules', 'run', 'Correct the failing rule; a rule that cannot be evaluated denies.'),
  PDP_UNAVAILABLE: deny('rules', 'moment', 'Restore the policy evaluator.'),
  APPROVAL_REQUIRED: escalate('rules', 'Have the approval decided, then repeat the same call.'),
  BUDGET_EXCEEDED: deny('budget', 'run', 'Wait for the window to reset, or raise the ceiling.'),
  PRICE_UNKNOWN: deny(
    'budget',
    'run',
    'Give the model a price with its largest output in GOV_MODEL_PRICES, or every model one under `*`, and leave out what is priced apart; a budget counts the spend. Set the budget in the currency of the prices (GOV_CURRENCY).',
  ),
  BUDGET_APPROVAL_REQUIRED: escalate('budget', 'Have the spend approved, then repeat the same call.'),
  BUDGET_UNAVAILABLE: deny('budget', 'moment', 'Restore the kernel store; budgets could not be read.'),
  APPROVAL_EXPIRED: deny('approval', 'run', 'Ask for a new approval.'),
  APPROVAL_MISMATCH: deny('approval', 'run', 'Repeat exactly the call that was approved, under the same policy.'),
  APPROVAL_PRECONDITION_FAILED: deny(
    'approval',
    'run',
    'Ask for a new approval; what the reason names is not as it was when this one was asked for.',
  ),
  APPROVAL_TIMELOCKED: deny('approval', 'run', 'Repeat the same call after the moment that the reason names.'),
  APPROVAL_CONSUMED: deny('approval', 'run', 'Ask for a new approval; this one was used.'),
  APPROVAL_REJECTED: deny('approval', 'run', 'The approvers refused; change the call.'),
} as const satisfies Record<string, ReasonDefinition>;

export type ReasonCode = keyof typeof reasonCodes;
export const ReasonCode = z.enum(Object.keys(reasonCodes) as [ReasonCode, ...ReasonCode[]]); // keys of a non-empty constant
