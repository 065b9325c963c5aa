import type { SessionId } from '@countersign/contracts';
import { AppError } from '@countersign/contracts';
import type { Caller } from '../call/governed-call.ts';
import type { Boundary, SealedDecision } from '../boundary/sealed-decision.ts';
import { toolCall } from '../mcp/execute-tool.ts';
import type { McpGateway, ResolvedTool } from '../mcp/gateway.ts';
import { Listings } from '../mcp/listings.ts';
import type { ProposedCall } from './proposed-call.ts';

export type JudgedCall = { proposed: ProposedCall; tool: string; decision: SealedDecision };

/**
 * Decides the calls of one answer. They are handed over in their order and at once, so one batch seals them, in that order. Throws what
 * the boundary throws, when all of them are answered; then none may be shown.
 */
export type JudgeCalls = (proposed: readonly ProposedCall[]) => Promise<JudgedCall[]>;

type JudgeParts = {
  boundary: Pick<Boundary, 'decide'>;
  mcp: Pick<McpGateway, 'resolveIfDeclared'>;
  callTimeoutMs: number;
  caller: Caller;
  session: SessionId;
};

/** More calls in one answer are no plan but an attack on the ledger. OpenAI's own ceiling for tools is 128. */
export const callsPerAnswerMax = 128;

/** The judge of one answer: what it knows of tools, and how long it waits to know it, is the same for all calls of the answer. */
export function judgeWith({ boundary, mcp, callTimeoutMs, caller, session }: JudgeParts): JudgeCalls {
  const listings = new Listings(callTimeoutMs);
  let calls = 0;
  return async (proposed) => {
    calls += proposed.length;
    if (calls > callsPerAnswerMax)
      throw new AppError('UPSTREAM_FAILED', `The model asked for more than ${callsPerAnswerMax} calls at once`);
    const known = await resolveEach(mcp, proposed, listings);
    const judged = proposed.map(async (call): Promise<JudgedCall> => {
      const declared = known.get(call.name) ?? null;
      const resolved = declared ?? undeclared(call.name);
      const dispatchedBy = declared === null ? 'caller' : 'nobody'; // only this kernel can reach a declared server
      const governed = toolCall({ caller, session, resolved, args: call.args ?? {}, context: {}, dispatchedBy });
      const decision = await boundary.decide(call.args === null ? { ...governed, malformedArguments: true } : governed);
      return { proposed: call, tool: resolved.tool, decision };
    });
    return await allAnswered(judged);
  };
}

/** Unlike Promise.all it waits for the others of one that rejects: the settlement of the answer comes after each of its calls. */
async function allAnswered<Value>(promises: readonly Promise<Value>[]): Promise<Value[]> {
  await Promise.allSettled(promises);
  return await Promise.all(promises);
}

/** At the same time, so that a server which does not answer takes no time from another that does. */
async function resolveEach(
  mcp: JudgeParts['mcp'],
  proposed: readonly ProposedCall[],
  listings: Listings,
): Promise<Map<string, ResolvedTool | null>> {
  const names = [...new Set(proposed.map(({ name }) => name))];
  const resolved = names.map(async (name) => [name, await mcp.resolveIfDeclared(name, listings)] as const);
  return new Map(await Promise.all(resolved));
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
