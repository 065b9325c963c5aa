import {
  AppError,
  ApprovalId,
  CallMembers,
  isAppError,
  ResourceName,
  SessionId,
  ToolName,
  type Digest,
} from '@countersign/contracts';
import { parsePlainJson } from '@countersign/crypto';
import type { Log } from '@countersign/service-kit';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Caller, ToolCall } from '../../call/governed-call.ts';
import { defaultSession, parseGiven, parseNamed } from './call-settings.ts';
import type { ToolExecution, ToolExecutor } from './execute-tool.ts';
import type { Input } from './send-operation.ts';
import type { CallOptions } from './permitted-sender.ts';

/** The sender of a message to the governed MCP server, and the values of its headers. */
export type Sender = {
  caller: Caller;
  /** The session in X-Gov-Session-ID. `null` without this header. */
  session: SessionId | null;
  /** The approval in X-Gov-Approval-Grant. `null` without this header. */
  approvalGrant: ApprovalId | null;
  /** The arguments of the message were not an object, and are omitted. */
  malformedArguments?: true;
  /** The trace context for the call to the upstream. */
  traceparent: string;
  log: Log;
};

type ToolCallMessage = Omit<CallOptions, 'input'> & {
  name: string;
  args: Record<string, unknown>;
  meta: Record<string, unknown>;
  /** The resource of the call, by its address. */
  resource?: string | undefined;
  /** A later round of a call, with answers to the server's requests. */
  input?: (Input & { digest: Digest }) | undefined;
};

/** Executes the call of one `tools/call` message. Throws every error as a ProtocolError. */
export async function callTool(
  executor: ToolExecutor,
  { caller, log, malformedArguments, traceparent, ...headers }: Sender,
  { name, args, meta, resource, input, ...options }: ToolCallMessage,
): Promise<ToolExecution> {
  try {
    const tool = parseGiven(ToolName, 'params.name', name);
    const answer = toldByMeta(meta);
    const session = sameOf('countersign/session_id', answer.session, headers.session);
    const request = {
      caller,
      session: session ?? defaultSession(caller),
      tool,
      args: parseGiven(CallMembers, 'params.arguments', parsePlainJson(args)),
      ...(malformedArguments === true ? { malformedArguments } : {}),
      ...aboutRound(resource, input),
      approvalGrant: sameOf('countersign/approval_grant', answer.approvalGrant, headers.approvalGrant) ?? undefined,
    };
    return await executor.execute(request, { ...options, input, traceparent }, log);
  } catch (error) {
    throw protocolError(error);
  }
}

/**
 * A later round is decided as an act of its own. Its resource contains a digest of the answers, so receipts and
 * approvals cover them. Rules read the answers in the context.
 */
function aboutRound(
  resource: string | undefined,
  input: ToolCallMessage['input'],
): Pick<ToolCall, 'resource' | 'context'> {
  const address = resource === undefined ? null : parseGiven(ResourceName, 'params.uri', resource);
  if (input === undefined) return { resource: address, context: {} };
  return { resource: `${address ?? ''}#input=${input.digest}`, context: { mcp_input: input.responses } };
}

const ownNames: readonly string[] = ['countersign/session_id', 'countersign/approval_grant'];

/** The members of a message's `_meta` that are addressed to this server. They are not sent upstream. */
function toldByMeta(meta: Record<string, unknown>) {
  const unknown = Object.keys(meta).find((name) => /^countersign\//i.test(name) && !ownNames.includes(name));
  if (unknown !== undefined)
    throw new AppError('INVALID_REQUEST', `_meta.${unknown}: unknown member`, { param: `_meta.${unknown}` });
  return {
    session: parseNamed(SessionId, '_meta.countersign/session_id', meta['countersign/session_id']),
    approvalGrant: parseNamed(ApprovalId, '_meta.countersign/approval_grant', meta['countersign/approval_grant']),
  };
}

/** A value that is in the message and in a header must be equal. A proxy that checks one of them then checks both. */
function sameOf<Value extends string>(name: string, inMeta: Value | null, inHeader: Value | null): Value | null {
  if (inMeta !== null && inHeader !== null && inMeta !== inHeader)
    throw new AppError('INVALID_REQUEST', `_meta.${name} differs from the header of the request`, {
      param: `_meta.${name}`,
    });
  return inMeta ?? inHeader;
}

function protocolError(error: unknown): ProtocolError {
  if (!isAppError(error)) return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
  const code = error.status < 500 ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  return new ProtocolError(code, error.message, { code: error.code });
}
