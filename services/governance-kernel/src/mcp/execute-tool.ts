import type { ApprovalId, PlainJson, SessionId } from '@countersign/contracts';
import type { Outcome, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { parsePlainJson } from '@countersign/crypto';
import type { Log } from '@countersign/service-kit';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Boundary, Caller, GovernedCall, SealedDecision } from '../boundary/governed-call.ts';
import type { Dispatcher } from './dispatch.ts';
import type { McpGateway, ResolvedTool } from './gateway.ts';

export type ToolRequest = {
  caller: Caller;
  session: SessionId;
  tool: string;
  args: Record<string, PlainJson>;
  context: Record<string, PlainJson>;
  approvalGrant?: ApprovalId | undefined;
  idempotency?: GovernedCall['idempotency'];
};

/** A decision, and what became of the call when it was allowed and had not been decided before. */
export type ToolExecution =
  | { kind: 'refused'; decision: SealedDecision }
  | { kind: 'replayed'; decision: SealedDecision }
  | {
      kind: 'executed';
      decision: SealedDecision;
      outcome: Outcome;
      result: CallToolResult;
      receipt: StoredReceipt | null;
    };

export type ToolExecutor = { execute(request: ToolRequest, signal: AbortSignal, log: Log): Promise<ToolExecution> };

export type ToolExecutorParts = {
  boundary: Pick<Boundary, 'settle'>;
  mcp: Pick<McpGateway, 'resolve'>;
  dispatcher: Dispatcher;
};

/** Decide, dispatch on ALLOW, settle: the one way a tool is executed here. */
export function createToolExecutor({ boundary, mcp, dispatcher }: ToolExecutorParts): ToolExecutor {
  return {
    execute: async (request, signal, log) => {
      const call = toolCall({ ...request, resolved: await mcp.resolve(request.tool), dispatchedBy: 'kernel' });
      const decision = await dispatcher.decide(call);
      if (decision.reply.verdict !== 'ALLOW') return { kind: 'refused', decision };
      if (decision.replayed) return { kind: 'replayed', decision };
      const { outcome, result } = await dispatcher.dispatch(decision, call, signal);
      const receipt = await boundary.settle(decision, { outcome, output: plain(result) }).catch((error: unknown) => {
        // The tool has run: an outcome that cannot be sealed now is kept, and sealed later.
        log.error('tool_outcome.unsealed', { decision_id: decision.reply.decision_id, error });
        return null;
      });
      return { kind: 'executed', decision, outcome, result, receipt };
    },
  };
}

/** The governed call of a tool, whoever executes it: a tool call of a model's answer and its execution are the same intent. */
export function toolCall(
  request: Omit<ToolRequest, 'tool'> & { resolved: ResolvedTool; dispatchedBy: GovernedCall['dispatchedBy'] },
): GovernedCall {
  const { caller, session, args, context, approvalGrant, idempotency, resolved, dispatchedBy } = request;
  return {
    caller,
    session,
    action: 'tool.call',
    tool: resolved.tool,
    resource: null,
    effectLevel: resolved.effectLevel,
    args,
    context,
    approvalGrant,
    mode: 'enforce',
    dispatchedBy,
    facts: { registry: resolved.registry },
    idempotency,
  };
}

/** A result that is not plain JSON (a lone surrogate) cannot be hashed as such; its text form can. */
function plain(result: CallToolResult): PlainJson | string {
  try {
    return parsePlainJson(JSON.parse(JSON.stringify(result))); // parsePlainJson has just established it
  } catch {
    return Buffer.from(JSON.stringify(result)).toString('base64');
  }
}
