import type { SessionId } from '@countersign/contracts';
import { AppError } from '@countersign/contracts';
import type { Boundary, Caller, SealedDecision } from '../boundary/governed-call.ts';
import { toolCall } from '../mcp/execute-tool.ts';
import type { McpGateway, ResolvedTool } from '../mcp/gateway.ts';
import type { ProposedCall } from './proposed-call.ts';

export type JudgedCall = { proposed: ProposedCall; tool: string; decision: SealedDecision };

/** Decides the calls of one answer, in their order. Throws what the boundary throws; then none of them may be shown. */
export type JudgeCalls = (proposed: readonly ProposedCall[]) => Promise<JudgedCall[]>;

export type JudgeParts = {
  boundary: Pick<Boundary, 'decide'>;
  mcp: Pick<McpGateway, 'resolveIfDeclared'>;
  caller: Caller;
  session: SessionId;
};

/** More calls in one choice are no plan but an attack on the ledger. OpenAI's own ceiling for tools is 128. */
export const callsPerChoiceMax = 128;

export function judgeWith({ boundary, mcp, caller, session }: JudgeParts): JudgeCalls {
  return async (proposed) => {
    if (proposed.length > callsPerChoiceMax)
      throw new AppError('UPSTREAM_FAILED', `The model asked for more than ${callsPerChoiceMax} calls at once`);
    const judged: JudgedCall[] = [];
    for (const call of proposed) {
      const declared = await mcp.resolveIfDeclared(call.name);
      const resolved = declared ?? undeclared(call.name);
      const dispatchedBy = declared === null ? 'caller' : 'nobody'; // only this kernel can reach a declared server
      const governed = toolCall({ caller, session, resolved, args: call.args ?? {}, context: {}, dispatchedBy });
      const decision = await boundary.decide(call.args === null ? { ...governed, malformedArguments: true } : governed);
      judged.push({ proposed: call, tool: resolved.tool, decision });
    }
    return judged;
  };
}

/** A function of the caller's own: nobody declared what it does. */
function undeclared(name: string): ResolvedTool {
  return { tool: name, effectLevel: 'E4', registry: { state: 'not_applicable' } };
}

/** The receipt decides, and a malformed call is never shown, whatever was said about it. */
export function isAllowed({ proposed, decision }: JudgedCall): boolean {
  return (
    proposed.args !== null && decision.reply.verdict === 'ALLOW' && decision.reply.receipt.payload.verdict === 'ALLOW'
  );
}
