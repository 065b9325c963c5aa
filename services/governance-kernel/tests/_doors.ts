import type { ServerResponse } from 'node:http';
import { createClient, type AnyRoute, type ApprovalId, type SessionId } from '@countersign/contracts';
import {
  authorizeMcpCall,
  callMcp,
  createChatCompletion,
  evaluate,
  executeMcp,
  preflightSandbox,
  runDemo,
  type DecisionReply,
} from '@countersign/contracts/governance-kernel';
import { createKernelClient } from '@countersign/contracts/routes';
import type { ModelScript } from '@countersign/testkit/scripted-model';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ChatCompletionMessage } from 'openai/resources/chat/completions';
import { newSession } from './_caller.ts';
import { adminKey, kernelRoutes } from './_kernel.ts';
import { runDoors } from './_run-doors.ts';
import type { Upstreams } from './_upstreams.ts';

export type Site = Upstreams & { mcp: Client };

export type Attempt = {
  session: SessionId;
  args: Record<string, string | number>;
  /** Replaces the door's tool name. */
  tool?: string;
  /** The arguments of a proposed call as text, for arguments that are not JSON. */
  argumentsText?: string;
  grant?: ApprovalId;
  /** An agent's key to send instead of the admin key. */
  bearer?: string;
  /** Runs right before the door decides: before the request is sent, or while the model answers. */
  meanwhile: () => Promise<void>;
};

/** The result of one attempt as its caller sees it. */
export type Report = {
  verdict: string;
  code: string;
  receiptId: string;
  session: string;
  approvalId?: ApprovalId | undefined;
  /** Whether the caller may proceed: the answer is an ALLOW, a result or a released tool call. */
  released: boolean;
};

/** One kind of decision of a governed route. A route with several kinds of decisions has a door for each. */
export type Door = {
  route: AnyRoute;
  name: string;
  action: 'model.call' | 'tool.call';
  tenant: string;
  principal: string;
  /** The tool is registered: it has a server, a pin and a schema. */
  registered: boolean;
  /** The kernel itself dispatches allowed calls. */
  dispatched: boolean;
  takesGrant: boolean;
  /** A model proposes the call, so the arguments may be any text. */
  proposed: boolean;
  /** The client resumes a withheld call. The kernel decides the call without a preceding model call. */
  resumes?: true;
  /** Calls cost money, and the kernel knows the amount. */
  costs: boolean;
  call(site: Site, attempt: Attempt): Promise<Report>;
  /** The number of calls that the upstream of this door has received. */
  dispatches(site: Site): number;
};

const writing = 'notes.write_note';
/** A tool without a sandbox grant. */
export const ungranted = 'replies.ungranted';
const caller = { tenant: 'acme', principal: 'agent' };

/** The client that the MCP doors use. */
export async function connectMcp(url: string, bearer = adminKey): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const { tenant, principal } = caller;
  const headers = { authorization: `Bearer ${bearer}`, 'x-gov-tenant-id': tenant, 'x-gov-principal-id': principal };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}

function callerBy({ kernel }: Site['test'], bearer = adminKey) {
  return createKernelClient({ baseUrl: kernel.url, apiKey: bearer }).as(caller);
}

/** Defaults: most doors have none of these properties. */
const plain = { registered: false, dispatched: false, takesGrant: false, proposed: false, costs: false };
const toolsRun = ({ notes }: Site) => notes.calls.length;

export const doors: Door[] = [
  {
    ...caller,
    ...plain,
    route: evaluate,
    name: 'evaluate',
    action: 'tool.call',
    registered: true,
    takesGrant: true,
    costs: true,
    call: async ({ test }, { session, args, tool = writing, grant, bearer, meanwhile }) => {
      await meanwhile();
      const values = grant === undefined ? {} : { approval_grant: grant };
      const costing = { effect_level: 'E2', demand: { spend_minor: 1 } };
      const call = { tool, args, session_id: session, ...costing, ...values };
      const body = { action: 'tool.call', context: {}, mode: 'enforce', ...call } as never; // plain strings instead of branded ones
      const { status, body: reply } = await callerBy(test, bearer).evaluate({ body });
      return toldBy(reply, status === 200 && reply.allow);
    },
    dispatches: toolsRun,
  },
  {
    ...caller,
    ...plain,
    route: createChatCompletion,
    name: 'create-chat-completion, the model call',
    action: 'model.call',
    dispatched: true,
    takesGrant: true,
    costs: true,
    call: callModel,
    dispatches: ({ model }) => model.requests.length,
  },
  proposalDoor('create-chat-completion, a tool call of the answer', { stream: false }),
  proposalDoor('create-chat-completion, a tool call of a stream', { stream: true }),
  ...runDoors({ common: { ...caller, ...plain }, headersOf, proposing }),
  mcpDoor('call-mcp, a plain call', {}),
  // The SDK's server answers calls that set a log level.
  mcpDoor('call-mcp, by the SDK server', { 'io.modelcontextprotocol/logLevel': 'error' }),
  {
    ...caller,
    ...plain,
    route: executeMcp,
    name: 'execute-mcp',
    action: 'tool.call',
    registered: true,
    dispatched: true,
    takesGrant: true,
    call: async ({ test }, { session, args, tool = writing, grant, bearer, meanwhile }) => {
      await meanwhile();
      const values = grant === undefined ? {} : { approval_grant: grant };
      const body = { tool, args, session_id: session, context: {}, ...values } as never; // plain strings instead of branded ones
      const { status, body: reply } = await callerBy(test, bearer).executeMcp({ body });
      return toldBy(reply.decision, status !== 403 || reply.result !== undefined || !reply.is_error);
    },
    dispatches: toolsRun,
  },
  {
    ...caller,
    ...plain,
    route: authorizeMcpCall,
    name: 'authorize-mcp-call',
    action: 'tool.call',
    registered: true,
    takesGrant: true,
    call: async ({ test }, { session, args, tool = writing, grant, bearer, meanwhile }) => {
      await meanwhile();
      const [server_id = '', ...name] = tool.split('.');
      const values = grant === undefined ? {} : { approval_grant: grant };
      const body = { server_id, tool_name: name.join('.'), args, session_id: session, context: {}, ...values };
      const { status, body: reply } = await callerBy(test, bearer).authorizeMcpCall({ query: {}, body: body as never });
      return toldBy(reply, status === 200 && reply.allow);
    },
    dispatches: toolsRun,
  },
  {
    ...caller,
    ...plain,
    route: preflightSandbox,
    name: 'preflight-sandbox',
    action: 'tool.call',
    takesGrant: true,
    call: async ({ test }, { session, args, tool = 'replies.draft', grant, bearer, meanwhile }) => {
      const granted = { subject: { tool }, expires_in_seconds: 600 } as never; // the schema fills in the defaults
      if (tool !== ungranted) await callerBy(test).createSandboxGrant({ query: {}, body: granted });
      await meanwhile();
      const values = grant === undefined ? {} : { approval_grant: grant };
      const body = { tool, session_id: session, args, ...values } as never; // plain strings instead of branded ones
      const { status, body: reply } = await callerBy(test, bearer).preflightSandbox({ query: {}, body });
      return toldBy(reply, status === 200 && reply.allow);
    },
    dispatches: toolsRun,
  },
  {
    ...plain,
    route: runDemo,
    name: 'run-demo',
    action: 'tool.call',
    tenant: 'demo',
    principal: 'demo-agent',
    call: async ({ test }, { args, meanwhile }) => {
      await meanwhile();
      const visitor = createClient(kernelRoutes, { baseUrl: test.kernel.url });
      const { status, body: reply } = await visitor.runDemo({ body: { action_id: 'draft_reply', args } });
      return toldBy(reply, status === 200 && reply.allow);
    },
    dispatches: toolsRun,
  },
];

function mcpDoor(name: string, meta: Record<string, string>): Door {
  return {
    ...caller,
    ...plain,
    route: callMcp,
    name,
    action: 'tool.call',
    registered: true,
    dispatched: true,
    takesGrant: true,
    call: (site, input) => callMcpTool(site, input, meta),
    dispatches: toolsRun,
  };
}

function proposalDoor(name: string, { stream }: { stream: boolean }): Door {
  return {
    ...caller,
    route: createChatCompletion,
    name,
    action: 'tool.call',
    registered: true,
    dispatched: false,
    takesGrant: false,
    proposed: true,
    costs: false,
    call: (site, input) => proposeTool(site, input, { stream }),
    dispatches: toolsRun,
  };
}

/** Makes one call through a door, in a new session by default. */
export async function attempt(site: Site, door: Door, options: Partial<Attempt> = {}) {
  const before = door.dispatches(site);
  const ordinary = { session: newSession(), args: { id: 'a', text: 'x' }, meanwhile: async () => undefined };
  const answer = await door.call(site, { ...ordinary, ...options });
  return { ...answer, executed: answer.released || door.dispatches(site) > before };
}

function toldBy({ verdict, reason_code, receipt_id, receipt, approval }: DecisionReply, released: boolean): Report {
  const { session_id: session } = receipt.payload;
  return { verdict, code: reason_code, receiptId: receipt_id, session, approvalId: approval?.approval_id, released };
}

type OpenAiRefusal = {
  error?: { code: string; reason_code: string; details: { approval?: { approval_id: ApprovalId } } };
};

async function callModel({ test, model }: Site, { session, args, grant, meanwhile }: Attempt): Promise<Report> {
  await meanwhile();
  model.follow(() => ({ text: 'Done.' }));
  const messages = [{ role: 'user', content: JSON.stringify(args) }];
  const response = await fetch(`${test.kernel.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', ...headersOf(session, grant) },
    body: JSON.stringify({ model: 'scripted', messages }),
  });
  const { error } = (await response.json()) as OpenAiRefusal; // a response of the kernel
  const receiptId = response.headers.get('x-gov-receipt-id') ?? 'none';
  if (error === undefined) return { verdict: 'ALLOW', code: 'ALLOWED', receiptId, session, released: true };
  const verdict = { policy_denied: 'DENY', approval_required: 'ESCALATE' }[error.code] ?? error.code;
  const approvalId = error.details.approval?.approval_id;
  return { verdict, code: error.reason_code, receiptId, session, approvalId, released: response.ok };
}

async function callMcpTool(
  { mcp, test }: Site,
  { session, args, tool = writing, grant, bearer, meanwhile }: Attempt,
  meta: Record<string, string>,
): Promise<Report> {
  await meanwhile();
  const values = grant === undefined ? {} : { 'countersign/approval_grant': grant };
  const client = bearer === undefined ? mcp : await connectMcp(test.kernel.url, bearer);
  const result = await client.callTool({
    name: tool,
    arguments: args,
    _meta: { 'countersign/session_id': session, ...values, ...meta },
  });
  if (client !== mcp) await client.close();
  const statementOf = (name: string) => String(result._meta?.[`countersign/${name}`]);
  const approvalId = statementOf('approval_id') as ApprovalId; // the text 'undefined' when no approval was requested
  const released = result.isError !== true;
  return {
    verdict: statementOf('verdict'),
    code: statementOf('reason_code'),
    receiptId: statementOf('receipt_id'),
    session,
    approvalId,
    released,
  };
}

type Governed = ChatCompletionMessage & { countersign?: { decisions: Record<string, string>[] } };

async function proposeTool(
  { openai, model }: Site,
  {
    session,
    args,
    tool = writing.replace('.', '__'),
    argumentsText = JSON.stringify(args),
    bearer,
    meanwhile,
  }: Attempt,
  { stream }: { stream: boolean },
): Promise<Report> {
  model.follow(proposing({ name: tool, arguments: argumentsText }, meanwhile));
  const credential: Record<string, string> = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  const { completions } = openai({ headers: { ...headersOf(session), ...credential } }).chat;
  const request = { model: 'scripted', messages: [{ role: 'user' as const, content: 'Write a note.' }] };
  const completion = stream
    ? await completions.stream(request).finalChatCompletion()
    : await completions.create(request);
  const message: Governed | undefined = completion.choices[0]?.message;
  const [decision = {}] = message?.countersign?.decisions ?? [];
  const { verdict = 'none', reason_code: code = 'none', receipt_id: receiptId = 'none' } = decision;
  const released = JSON.stringify(message?.tool_calls ?? []) !== '[]' || message?.refusal === null;
  return { verdict, code, receiptId, session, released };
}

/**
 * A model script that proposes one tool call after `meanwhile`. At that time the model call is decided, but not the
 * tool call.
 */
function proposing(call: { name: string; arguments: string }, meanwhile: () => Promise<void>): ModelScript {
  const proposed = { id: 'call-1', type: 'function', function: call };
  return ({ stream }) =>
    (res) =>
      void meanwhile().then(
        () => (stream === true ? sendStream(res, proposed) : sendWhole(res, proposed)),
        () => res.destroy(),
      );
}

const envelope = { id: 'chat-1', created: 0, model: 'scripted' };

function sendWhole(res: ServerResponse, call: object): void {
  const message = { role: 'assistant', content: null, refusal: null, tool_calls: [call] };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'tool_calls' }];
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ ...envelope, object: 'chat.completion', choices }));
}

function sendStream(res: ServerResponse, call: object): void {
  const chunk = (delta: object, finish_reason: string | null) => {
    const choices = [{ index: 0, delta, finish_reason }];
    res.write(`data: ${JSON.stringify({ ...envelope, object: 'chat.completion.chunk', choices })}\n\n`);
  };
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  chunk({ role: 'assistant', tool_calls: [{ index: 0, ...call }] }, null);
  chunk({}, 'tool_calls');
  res.end('data: [DONE]\n\n');
}

function headersOf(session: string, grant?: string): Record<string, string> {
  return {
    'x-gov-tenant-id': caller.tenant,
    'x-gov-principal-id': caller.principal,
    'x-gov-session-id': session,
    ...(grant === undefined ? {} : { 'x-gov-approval-grant': grant }),
  };
}
