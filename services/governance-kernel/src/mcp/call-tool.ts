import { ApprovalId, CallMembers, isAppError, SessionId, ToolName } from '@countersign/contracts';
import { parsePlainJson } from '@countersign/crypto';
import type { Log } from '@countersign/service-kit';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Caller } from '../call/governed-call.ts';
import { defaultSession, parseGiven, parseNamed } from './call-settings.ts';
import type { ToolExecution, ToolExecutor } from './execute-tool.ts';

/** Who sent a message to the governed MCP server, and what its headers say. */
export type Sender = {
  caller: Caller;
  /** From X-Gov-Session-ID. */
  session: SessionId | null;
  /** From X-Gov-Approval-Grant. */
  approvalGrant: ApprovalId | null;
  log: Log;
};

type ToolCallMessage = {
  name: string;
  args: Record<string, unknown>;
  meta: Record<string, unknown>;
  signal: AbortSignal;
};

/** Executes the call of one `tools/call` message. Throws a ProtocolError that tells what the caller did wrong, and nothing else. */
export async function callTool(
  executor: ToolExecutor,
  { caller, log, ...headers }: Sender,
  { name, args, meta, signal }: ToolCallMessage,
): Promise<ToolExecution> {
  try {
    const tool = parseGiven(ToolName, 'params.name', name);
    const session = parseNamed(SessionId, '_meta.countersign/session_id', meta['countersign/session_id']);
    const grant = parseNamed(ApprovalId, '_meta.countersign/approval_grant', meta['countersign/approval_grant']);
    const request = {
      caller,
      session: session ?? headers.session ?? defaultSession('mcp', caller),
      tool,
      args: parseGiven(CallMembers, 'params.arguments', parsePlainJson(args)),
      context: {},
      approvalGrant: grant ?? headers.approvalGrant ?? undefined,
    };
    return await executor.execute(request, signal, log);
  } catch (error) {
    throw protocolError(error);
  }
}

function protocolError(error: unknown): ProtocolError {
  if (!isAppError(error)) return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
  const code = error.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, error.message, { code: error.code });
}
