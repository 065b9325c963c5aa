import { reasonCodes, type ReasonCode } from '@countersign/contracts';
import type { WorkspaceSettings } from '@countersign/contracts/gateway';
import type { ToolReply } from './conversation.ts';

type DeniedCall = WorkspaceSettings['policyConfig']['deniedCall'];

/** Whether a run continues after a denied tool call, as configured in the workspace. A temporary fault ends no run. */
export function isTellable(reasonCode: ReasonCode, deniedCall: DeniedCall): boolean {
  const { concerns } = reasonCodes[reasonCode];
  return concerns === 'moment' || (deniedCall === 'tell' && concerns === 'call');
}

/** The text that the model reads in place of the tool's answer. */
export function denialReply({ reasonCode, reason }: { reasonCode: ReasonCode; reason: string }): ToolReply {
  if (reasonCodes[reasonCode].concerns === 'moment') {
    const content = `This call was not made: it could not be decided at the moment (${reasonCode}: ${reason}). Repeat it if it is still needed.`;
    return { content, isError: true };
  }
  const by = reasonCode === 'TOOL_BLOCKED' ? 'a setting' : 'the policy';
  const content = `This call was not made: ${by} of the workspace denies it (${reasonCode}: ${reason}). Do not repeat it. Go another way, or say what cannot be done.`;
  return { content, isError: true };
}
