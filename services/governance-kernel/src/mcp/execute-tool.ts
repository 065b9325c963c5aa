import type { ApprovalId, PlainJson, SessionId } from '@countersign/contracts';
import { parsePlainJson } from '@countersign/crypto';
import type { Log } from '@countersign/service-kit';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Effects, Performed } from '../boundary/dispatch.ts';
import type { Caller, GovernedCall } from '../call/governed-call.ts';
import type { McpGateway, ResolvedTool } from './gateway.ts';
import type { ToolAnswer } from './tool-upstream.ts';

type ToolRequest = {
  caller: Caller;
  session: SessionId;
  tool: string;
  args: Record<string, PlainJson>;
  context: Record<string, PlainJson>;
  approvalGrant?: ApprovalId | undefined;
  idempotency?: GovernedCall['idempotency'];
};

export type ToolExecution = Performed<CallToolResult>;

export type ToolExecutor = { execute(request: ToolRequest, signal: AbortSignal, log: Log): Promise<ToolExecution> };

type ToolExecutorParts = {
  mcp: Pick<McpGateway, 'resolve'>;
  tools: Effects<{ signal: AbortSignal }, ToolAnswer>;
};

/** The one way a tool is executed here. */
export function createToolExecutor({ mcp, tools }: ToolExecutorParts): ToolExecutor {
  return {
    execute: async (request, signal, log) =>
      tools.perform({
        call: toolCall({ ...request, resolved: await mcp.resolve(request.tool), dispatchedBy: 'kernel' }),
        request: { signal },
        receive: ({ outcome, result }) => ({ outcome, output: plain(result), result }),
        failed: { outcome: 'uncertain' },
        log,
      }),
  };
}

/** The governed call of a tool, whoever executes it: a tool call of a model's answer and its execution are the same intent. */
export function toolCall<By extends GovernedCall['dispatchedBy']>(
  request: Omit<ToolRequest, 'tool'> & { resolved: ResolvedTool; dispatchedBy: By },
): GovernedCall & { mode: 'enforce'; dispatchedBy: By } {
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
    registry: resolved.registry,
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
