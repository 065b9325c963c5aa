import { z } from 'zod';
import type { Verdict } from './scalars.ts';

/** The gates of the decision cycle in their fixed order. The first outcome other than ALLOW decides. */
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
 * The scope of a denial. `call`: only this call, so another call may be allowed. `moment`: a fact could not be read, so
 * the same call may be allowed a moment later. `run`: the next call would also be denied, or a person denied it.
 */
type Concern = 'call' | 'moment' | 'run';

/** `says`: the reason, as a list entry for people. `nextStep`: what to do now. */
type ReasonDefinition = { gate: GateName; verdict: Verdict; concerns: Concern | null; says: string; nextStep: string };

function deny(gate: GateName, concerns: Concern, says: string, nextStep: string): ReasonDefinition {
  return { gate, verdict: 'DENY', concerns, says, nextStep };
}
function escalate(gate: GateName, says: string, nextStep: string): ReasonDefinition {
  return { gate, verdict: 'ESCALATE', concerns: null, says, nextStep };
}

/**
 * The closed list of reason codes: the reason of a verdict and the next step. Console and command line show the same
 * texts.
 */
export const reasonCodes = {
  ALLOWED: { gate: 'rules', verdict: 'ALLOW', concerns: null, says: 'Allowed', nextStep: 'Execute the action.' },
  MALFORMED_ARGUMENTS: deny(
    'request',
    'call',
    'Wrong arguments',
    'Send plain JSON arguments within the published limits; call a registered tool by its exact name, with the action tool.call.',
  ),
  SYSTEM_FROZEN: deny(
    'fence',
    'run',
    'Everything is stopped',
    'Wait until an operator lifts the freeze; the reason names its scope.',
  ),
  TENANT_QUARANTINED: deny(
    'fence',
    'run',
    'The workspace is quarantined',
    'Ask an operator to lift the quarantine of the tenant.',
  ),
  AGENT_QUARANTINED: deny(
    'fence',
    'run',
    'The agent is quarantined',
    'Ask an operator to lift the quarantine of the agent.',
  ),
  TOOL_QUARANTINED: deny(
    'fence',
    'call',
    'The tool is quarantined',
    'Ask an operator to lift the quarantine of the tool or its server.',
  ),
  THROTTLED: deny('fence', 'run', 'Too many calls (throttled)', 'Slow down; the throttle names its limit.'),
  SETTINGS_MISSING: deny(
    'fence',
    'run',
    'Workspace settings not delivered',
    'Wait until the gateway has delivered the settings of the workspace to this kernel, or apply them in the workspace.',
  ),
  FENCE_UNAVAILABLE: deny(
    'fence',
    'moment',
    'Stops could not be checked, so denied',
    'Restore the kernel store; fences could not be read.',
  ),
  POLICY_MISSING: deny('policy', 'run', 'No policy in force', 'Activate a policy bundle for the tenant.'),
  POLICY_STALE: deny(
    'policy',
    'run',
    'Policy not confirmed',
    'Confirm the policy bundle again, or activate a newer one.',
  ),
  POLICY_SIGNATURE_INVALID: deny(
    'policy',
    'run',
    'Policy signature is wrong',
    'Activate a bundle signed by a trusted policy key.',
  ),
  CEILING_MISSING: deny(
    'policy',
    'run',
    'A required ceiling is missing',
    'Activate a bundle that contains the ceilings of the tenant unchanged.',
  ),
  CREDENTIALS_MISSING: deny(
    'identity',
    'run',
    'No credential',
    'Call with a credential of the agent: an access key, an agent token or an assertion of the gateway.',
  ),
  AGENT_UNKNOWN: deny('identity', 'run', 'Agent not enrolled', 'Enrol the agent.'),
  AGENT_REVOKED: deny('identity', 'run', 'Agent revoked', 'Use another identity or key. A revocation is final.'),
  AUTHZ_SNAPSHOT_STALE: deny('relationship', 'run', 'Relations are out of date', 'Refresh the relationship snapshot.'),
  RELATION_MISSING: deny(
    'relationship',
    'call',
    'Not related to this record',
    'Grant the relation that the policy requires.',
  ),
  SERVER_QUARANTINED: escalate('registry', 'Server not approved yet', 'Have an operator approve the MCP server.'),
  SERVER_REVOKED: deny('registry', 'call', 'Server revoked', 'Use another server; this one was revoked.'),
  SERVER_EXPIRED: deny(
    'registry',
    'call',
    'Approval of the server expired',
    'Have an owner request a new approval of the MCP server; its last one has ended.',
  ),
  TOOL_UNKNOWN: deny('registry', 'call', 'Unknown tool', 'Use a tool that an approved server lists.'),
  SCHEMA_DRIFT: deny(
    'registry',
    'run',
    'Tool definition changed',
    'Review the changed tool definition and approve its new pin.',
  ),
  REGISTRY_UNAVAILABLE: deny(
    'registry',
    'moment',
    'The tool could not be checked, so denied',
    'Restore the registry; the tool definition could not be read.',
  ),
  SCHEMA_VIOLATION: deny(
    'arguments',
    'call',
    'Wrong arguments for this tool',
    'Send arguments that satisfy the pinned input schema.',
  ),
  INSUFFICIENT_SCOPE: deny('scopes', 'call', 'Token lacks this scope', 'Obtain a token with the missing scope.'),
  SANDBOX_OVERGRANT: deny('sandbox', 'call', 'More than its sandbox grants', 'Request no more than the grant allows.'),
  SANDBOX_GRANT_MISSING: deny('sandbox', 'run', 'No sandbox for this tool', 'Create a sandbox grant for the tool.'),
  EGRESS_BLOCKED: deny('egress', 'call', 'Destination not on the list', 'Use an allowed destination.'),
  DIRECT_UPSTREAM_BYPASS: deny(
    'provenance',
    'run',
    'Call went around Countersign',
    'Send the call through the boundary.',
  ),
  TOOL_BLOCKED: deny(
    'rules',
    'call',
    'Tool blocked in this workspace',
    'Use another tool, or have an owner take the tool off the blocked tools in the settings of the workspace.',
  ),
  POLICY_DENIED: deny('rules', 'call', 'Denied by a rule', 'Change the call, or ask for a policy change.'),
  NO_MATCHING_RULE: deny('rules', 'call', 'No rule covers it', 'Add a policy rule that covers the action.'),
  POLICY_EVALUATION_ERROR: deny(
    'rules',
    'run',
    'A rule failed',
    'Correct the failing rule; a rule that cannot be evaluated denies.',
  ),
  PDP_UNAVAILABLE: deny('rules', 'moment', 'Rules could not be checked, so denied', 'Restore the policy evaluator.'),
  APPROVAL_REQUIRED: escalate(
    'rules',
    'A rule asks for a person',
    'Have the approval decided, then repeat the same call.',
  ),
  BUDGET_EXCEEDED: deny('budget', 'run', 'Over budget', 'Wait for the window to reset, or raise the ceiling.'),
  PRICE_UNKNOWN: deny(
    'budget',
    'run',
    'Price unknown',
    'Set a price with the largest output for the model, or for all models under `*`, in GOV_MODEL_PRICES. Remove content that is priced separately. Set the budget in the currency of the prices (GOV_CURRENCY).',
  ),
  BUDGET_APPROVAL_REQUIRED: escalate(
    'budget',
    'Spend needs a person',
    'Have the spend approved, then repeat the same call.',
  ),
  BUDGET_UNAVAILABLE: deny(
    'budget',
    'moment',
    'Budgets could not be checked, so denied',
    'Restore the kernel store; budgets could not be read.',
  ),
  APPROVAL_EXPIRED: deny('approval', 'run', 'Approval expired', 'Ask for a new approval.'),
  APPROVAL_MISMATCH: deny(
    'approval',
    'run',
    'Not the call that was approved',
    'Repeat exactly the call that was approved, under the same policy.',
  ),
  APPROVAL_PRECONDITION_FAILED: deny(
    'approval',
    'run',
    'Facts changed since the approval',
    'Ask for a new approval. The reason names the fact that changed after this one was requested.',
  ),
  APPROVAL_TIMELOCKED: deny(
    'approval',
    'run',
    'Time lock has not ended',
    'Repeat the same call after the time in the reason.',
  ),
  APPROVAL_CONSUMED: deny('approval', 'run', 'Approval already used', 'Ask for a new approval; this one was used.'),
  APPROVAL_REJECTED: deny('approval', 'run', 'Approval denied', 'The approvers refused; change the call.'),
} as const satisfies Record<string, ReasonDefinition>;

export type ReasonCode = keyof typeof reasonCodes;
export const ReasonCode = z.enum(Object.keys(reasonCodes) as [ReasonCode, ...ReasonCode[]]); // keys of a non-empty constant
