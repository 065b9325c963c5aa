import { visibleText, type Digest, type PlainJson } from '@countersign/contracts';
import { parsePlainObject } from '@countersign/crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ApprovalWaits } from './approval-waits.ts';
import { callTool, type Sender } from './call-tool.ts';
import type { ToolExecution, ToolExecutor } from './execute-tool.ts';
import { inputDigest, type InputStates, type Round } from './input-states.ts';
import { relayLogsTo, relayTo } from './progress.ts';
import { decisionMeta, refusalText } from './refusal.ts';
import { requireDeclared } from './require-declared.ts';
import type { Input, Questions } from './send-operation.ts';
import type { ElicitationModes } from './sending.ts';
import type { SessionClient } from './session-client.ts';
import { parseToolAddress } from '../../registry/tool-definition.ts';

export type ActDeps = {
  executor: ToolExecutor;
  /** Executes calls for clients that cannot open a page. It waits for the approval of an escalated call. */
  waitingExecutor: ToolExecutor;
  approvalWaits: ApprovalWaits;
  inputStates: InputStates;
  sender: Sender;
  /** The client of a session of 2025-11-25. `null` for all other clients. */
  client: SessionClient | null;
};

export type Act = {
  /** The tool by any of its names. */
  tool: string;
  args: Record<string, unknown>;
  resource?: string;
};

export type Acted = {
  execution: ToolExecution;
  /** The questions that the caller must answer before the act continues. `null` when there are none. */
  asks: InputRequiredResult | null;
};

/** The caller's reply to the questions of the previous round. Both members are absent in the first round. */
type RoundReply = {
  requestState?: string | undefined;
  inputResponses?: Record<string, unknown> | undefined;
};

/** Performs one round of an act: the first round of a call, or a later one with the caller's answers. */
export async function performRound(
  deps: ActDeps,
  act: Act,
  { context, reply }: { context: ServerContext; reply: RoundReply },
): Promise<Acted> {
  const { mcpReq } = context;
  const { client } = deps;
  const elicitation = client === null ? declaredModes(mcpReq.envelope) : client.elicitation;
  const round = roundOf(deps.sender, act, context);
  const executor = elicitation?.url === undefined ? deps.waitingExecutor : deps.executor;
  const execution = await callTool(executor, deps.sender, {
    ...{ name: act.tool, args: act.args, resource: act.resource, meta: mcpReq._meta ?? {} },
    ...{ signal: mcpReq.signal, onProgress: relayTo(mcpReq), logs: relayLogsTo(mcpReq, client?.level ?? null) },
    ...{ elicitation, input: inputOf(deps.inputStates, round, reply) },
  });
  requireDeclared(execution, client === null ? capabilitiesIn(mcpReq.envelope) : { elicitation });
  const asks = askForApproval(act.tool, execution, { reply, elicitation }) ?? askFurther(deps, round, execution);
  return { execution, asks };
}

function roundOf({ caller, session }: Sender, { tool, args, resource }: Act, { mcpReq }: ServerContext): Round {
  const inMeta = mcpReq._meta?.['countersign/session_id'];
  const named = {
    ...{ principal: caller.principal, method: mcpReq.method, tool, resource: resource ?? null },
    session: typeof inMeta === 'string' ? inMeta : session,
  };
  return { tenant: caller.tenant, call: { ...named, args: plainMembers(args) } };
}

/** A state that was not sealed for this call is refused, since the caller may not choose the state of a server. */
function inputOf(
  states: InputStates,
  round: Round,
  { requestState: sealed, inputResponses }: RoundReply,
): (Input & { digest: Digest }) | undefined {
  if (sealed === undefined) return undefined;
  const opened = states.open(round, sealed);
  if (opened === null)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    });
  const responses = plainMembers(inputResponses ?? {});
  return { responses, state: opened.state, digest: inputDigest(responses, opened) };
}

function plainMembers(input: Record<string, unknown>): Record<string, PlainJson> {
  try {
    return parsePlainObject(input);
  } catch {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The message is not plain JSON');
  }
}

/**
 * Asks a client that can open a URL to open the approval of an ESCALATE. A retry that already contains an answer gets
 * the refusal instead, since a client that accepts at once would otherwise loop.
 */
function askForApproval(
  tool: string,
  { decision }: ToolExecution,
  { reply, elicitation }: { reply: RoundReply; elicitation: ElicitationModes | undefined },
): InputRequiredResult | null {
  const { approval } = decision.reply;
  if (decision.reply.verdict !== 'ESCALATE' || approval === undefined) return null;
  if (elicitation?.url === undefined || reply.inputResponses !== undefined) return null;
  const request = inputRequired.elicitUrl({ message: refusalText(tool, decision.reply), url: approval.approve_url });
  return { ...inputRequired({ inputRequests: { approval: request } }), _meta: decisionMeta(decision.reply) };
}

/**
 * The requests of the upstream server. Each is prefixed with the server's name, since a person needs to know the
 * requester. Invisible characters are shown, since they could hide the prefix or control a terminal.
 */
function askFurther({ inputStates }: ActDeps, round: Round, execution: ToolExecution): InputRequiredResult | null {
  if (execution.kind !== 'performed' || execution.result.questions === undefined) return null;
  const { requests, state } = execution.result.questions;
  const { reply } = execution.decision;
  const serverId = parseToolAddress(reply.receipt.payload.tool ?? '')?.serverId ?? 'unknown';
  return {
    ...inputRequired({ inputRequests: named(requests, serverId), requestState: inputStates.seal(round, state) }),
    _meta: {
      ...decisionMeta(reply),
      ...(execution.receipt === null ? {} : { 'countersign/outcome_receipt_id': execution.receipt.payload.receipt_id }),
    },
  };
}

function named(requests: Questions['requests'], serverId: string): Questions['requests'] {
  const all = Object.entries(requests).map(([key, request]) => {
    const message = `Server "${serverId}" asks: ${visibleLines(request.params.message)}`;
    return [key, { ...request, params: { ...request.params, message } }] as const;
  });
  return Object.fromEntries(all);
}

function visibleLines(text: string): string {
  return text.split('\n').map(visibleText).join('\n');
}

/**
 * The declared capabilities, or none for protocol versions of 2025. Clients of those versions declare their
 * capabilities when they initialize, and a session keeps them.
 */
function capabilitiesIn(envelope: object | undefined): Record<string, unknown> {
  return Declares.safeParse(envelope).data?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
}

/** An empty declaration means forms, by the protocol. */
function declaredModes(envelope: object | undefined): ElicitationModes | undefined {
  const declared = Modes.safeParse(capabilitiesIn(envelope)['elicitation']).data;
  if (declared === undefined) return undefined;
  const { form, url } = declared;
  if (form === undefined && url === undefined) return { form: {} };
  return { ...(form === undefined ? {} : { form: {} }), ...(url === undefined ? {} : { url: {} }) };
}

const Mode = z.looseObject({}).optional();
const Modes = z.looseObject({ form: Mode, url: Mode });
const Declares = z.looseObject({ [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({}) });
