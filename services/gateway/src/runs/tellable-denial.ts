import type { ReasonCode } from '@countersign/contracts';
import type { WorkspaceSettings } from '@countersign/contracts/gateway';
import type { ToolReply } from './conversation.ts';

type DeniedCall = WorkspaceSettings['policyConfig']['deniedCall'];

/** Denials of this one call, after which another call may be allowed. Every other denial would meet the next call too, or is somebody's word. */
const ofThisCallAlone: ReadonlySet<ReasonCode> = new Set([
  'MALFORMED_ARGUMENTS',
  'TOOL_QUARANTINED',
  'RELATION_MISSING',
  'SERVER_REVOKED',
  'TOOL_UNKNOWN',
  'SCHEMA_VIOLATION',
  'INSUFFICIENT_SCOPE',
  'SANDBOX_OVERGRANT',
  'EGRESS_BLOCKED',
  'TOOL_BLOCKED',
  'POLICY_DENIED',
  'NO_MATCHING_RULE',
]);

/** Denials by no policy: facts could not be read, and the same call may be allowed a moment later. */
const ofAMoment: ReadonlySet<ReasonCode> = new Set([
  'FENCE_UNAVAILABLE',
  'REGISTRY_UNAVAILABLE',
  'PDP_UNAVAILABLE',
  'BUDGET_UNAVAILABLE',
]);

/** Whether a run goes on after the denial of a tool call, as the workspace has set it. A fault that may be over ends no run. */
export function isTellable(reasonCode: ReasonCode, deniedCall: DeniedCall): boolean {
  return ofAMoment.has(reasonCode) || (deniedCall === 'tell' && ofThisCallAlone.has(reasonCode));
}

/** What the model reads in place of the tool's answer. */
export function denialReply({ reasonCode, reason }: { reasonCode: ReasonCode; reason: string }): ToolReply {
  if (ofAMoment.has(reasonCode)) {
    const content = `This call was not made: it could not be decided at the moment (${reasonCode}: ${reason}). Repeat it if it is still needed.`;
    return { content, isError: true };
  }
  const by = reasonCode === 'TOOL_BLOCKED' ? 'a setting' : 'the policy';
  const content = `This call was not made: ${by} of the workspace denies it (${reasonCode}: ${reason}). Do not repeat it. Go another way, or say what cannot be done.`;
  return { content, isError: true };
}
