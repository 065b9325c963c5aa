import type { ReasonCode } from '@countersign/contracts';
import type { ToolReply } from './conversation.ts';

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
  'POLICY_DENIED',
  'NO_MATCHING_RULE',
]);

export function isTellable(reasonCode: ReasonCode): boolean {
  return ofThisCallAlone.has(reasonCode);
}

/** What the model reads in place of the tool's answer. */
export function denialReply({ reasonCode, reason }: { reasonCode: ReasonCode; reason: string }): ToolReply {
  const content = `This call was not made: the policy of the workspace denies it (${reasonCode}: ${reason}). Do not repeat it. Go another way, or say what cannot be done.`;
  return { content, isError: true };
}
