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
import type { Caller, ToolCall } from '../call/governed-call.ts';
import { defaultSession, parseGiven, parseNamed } from './call-settings.ts';
import type { ToolExecution, ToolExecutor } from './execute-tool.ts';
import type { Input } from './send-operation.ts';
import type { CallOptions } from './permitted-sender.ts';

/** Who sent a message to the governed MCP server, and what its headers say. */
export type Sender = {
  caller: Caller;
  /** From X-Gov-Session-ID. */
  session: SessionId | null;
  /** From X-Gov-Approval-Grant. */
  approvalGrant: ApprovalId | null;
  /** The arguments of the message were no object, and are left out of it. */
  malformedArguments?: true;
  /** Goes along upstream. */
  traceparent: string;
  log: Log;
};

type ToolCallMessage = Omit<CallOptions, 'input'> & {
  name: string;
  args: Record<string, unknown>;
  meta: Record<string, unknown>;
  /** The resource of the call, by its address. */
  resource?: string | undefined;
  /** A later round of a call: answers to what the server asked for. */
  input?: (Input & { digest: Digest }) | undefined;
};

/** Executes the call of one `tools/call` message. Throws a ProtocolError that tells what the caller did wrong, and nothing else. */
export async function callTool(
  executor: ToolExecutor,
  { caller, log, malformedArguments, traceparent, ...headers }: Sender,
  { name, args, meta, resource, input, ...options }: ToolCallMessage,
): Promise<ToolExecution> {
  try {
    const tool = parseGiven(ToolName, 'params.name', name);
    const told = toldByMeta(meta);
    const session = sameOf('countersign/session_id', told.session, headers.session);
    const request = {
      caller,
      session: session ?? defaultSession(caller),
      tool,
      args: parseGiven(CallMembers, 'params.arguments', parsePlainJson(args)),
      ...(malformedArguments === true ? { malformedArguments } : {}),
      ...aboutRound(resource, input),
      approvalGrant: sameOf('countersign/approval_grant', told.approvalGrant, headers.approvalGrant) ?? undefined,
    };
    return await executor.execute(request, { ...options, input, traceparent }, log);
  } catch (error) {
    throw protocolError(error);
  }
}

/** A round is an act of its own: its receipt names the answers, an approval binds them, and rules can read them. */
function aboutRound(
  resource: string | undefined,
  input: ToolCallMessage['input'],
): Pick<ToolCall, 'resource' | 'context'> {
  const address = resource === undefined ? null : parseGiven(ResourceName, 'params.uri', resource);
  if (input === undefined) return { resource: address, context: {} };
  return { resource: `${address ?? ''}#input=${input.digest}`, context: { mcp_input: input.responses } };
}

const ownNames: readonly string[] = ['countersign/session_id', 'countersign/approval_grant'];

/** The part of a message's `_meta` that is for us. Nothing of its `_meta` goes upstream. */
function toldByMeta(meta: Record<string, unknown>) {
  const unknown = Object.keys(meta).find((name) => /^countersign\//i.test(name) && !ownNames.includes(name));
  if (unknown !== undefined)
    throw new AppError('INVALID_REQUEST', `_meta.${unknown}: unknown member`, { param: `_meta.${unknown}` });
  return {
    session: parseNamed(SessionId, '_meta.countersign/session_id', meta['countersign/session_id']),
    approvalGrant: parseNamed(ApprovalId, '_meta.countersign/approval_grant', meta['countersign/approval_grant']),
  };
}

/** A message and its headers may both say it, and must then say the same: a proxy that checks one of them checks both. */
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
