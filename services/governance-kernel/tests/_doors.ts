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
  /** Another name than the door's own. */
  tool?: string;
  /** The arguments of a proposed call as text, when they are no JSON. */
  argumentsText?: string;
  grant?: ApprovalId;
  /** The bearer of an agent's key, instead of the operators' one. */
  bearer?: string;
  /** Runs once the call is on its way, right before this door decides. */
  meanwhile: () => Promise<void>;
};

/** The caller's view of one attempt, in the route's own words. */
export type Told = {
  verdict: string;
  code: string;
  receiptId: string;
  session: string;
  approvalId?: ApprovalId | undefined;
  /** The answer lets the caller go on: it is an ALLOW, a result, a tool call that was released. */
  released: boolean;
};

/** One way in which a governed route decides. A route that decides about more than one thing has a door for each. */
export type Door = {
  route: AnyRoute;
  name: string;
  action: 'model.call' | 'tool.call';
  tenant: string;
  principal: string;
  /** Its tool is registered: it has a server, a pin and a schema. */
  registered: boolean;
  /** The kernel itself sends what it allows. */
  dispatched: boolean;
  takesGrant: boolean;
  /** A model proposes the call, in words that may be anything. */
  proposed: boolean;
  /** A page sends the call back: nothing comes between the request and the decision. */
  resumes?: true;
  /** A call of it costs money that the kernel hears of. */
  costs: boolean;
  call(site: Site, attempt: Attempt): Promise<Told>;
  /** How often something was sent upstream for this door. */
  dispatches(site: Site): number;
};

const writing = 'notes.write_note';
/** A tool that nothing is granted to. */
export const ungranted = 'replies.ungranted';
const caller = { tenant: 'acme', principal: 'agent' };

/** The client that the door of MCP calls through. */
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

/** The properties that most doors lack. */
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
      const given = grant === undefined ? {} : { approval_grant: grant };
      const costing = { effect_level: 'E2', demand: { spend_minor: 1 } };
      const call = { tool, args, session_id: session, ...costing, ...given };
      const body = { action: 'tool.call', context: {}, mode: 'enforce', ...call } as never; // a test writes plain names
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
  // A client that asks for a log is answered by the SDK's server.
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
      const given = grant === undefined ? {} : { approval_grant: grant };
      const body = { tool, args, session_id: session, context: {}, ...given } as never; // a test writes plain names
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
      const given = grant === undefined ? {} : { approval_grant: grant };
      const body = { server_id, tool_name: name.join('.'), args, session_id: session, context: {}, ...given };
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
      const granted = { subject: { tool }, expires_in_seconds: 600 } as never; // defaulted by the schema
      if (tool !== ungranted) await callerBy(test).createSandboxGrant({ query: {}, body: granted });
      await meanwhile();
      const given = grant === undefined ? {} : { approval_grant: grant };
      const body = { tool, session_id: session, args, ...given } as never; // a test writes plain names
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
    call: (site, given) => callMcpTool(site, given, meta),
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
    call: (site, given) => proposeTool(site, given, { stream }),
    dispatches: toolsRun,
  };
}

/** Makes one call through a door, of a session of its own unless it is told another. */
export async function attempt(site: Site, door: Door, given: Partial<Attempt> = {}) {
  const before = door.dispatches(site);
  const ordinary = { session: newSession(), args: { id: 'a', text: 'x' }, meanwhile: async () => undefined };
  const told = await door.call(site, { ...ordinary, ...given });
  return { ...told, executed: told.released || door.dispatches(site) > before };
}

function toldBy({ verdict, reason_code, receipt_id, receipt, approval }: DecisionReply, released: boolean): Told {
  const { session_id: session } = receipt.payload;
  return { verdict, code: reason_code, receiptId: receipt_id, session, approvalId: approval?.approval_id, released };
}

type OpenAiRefusal = {
  error?: { code: string; reason_code: string; details: { approval?: { approval_id: ApprovalId } } };
};

async function callModel({ test, model }: Site, { session, args, grant, meanwhile }: Attempt): Promise<Told> {
  await meanwhile();
  model.follow(() => ({ text: 'Done.' }));
  const messages = [{ role: 'user', content: JSON.stringify(args) }];
  const response = await fetch(`${test.kernel.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', ...headersOf(session, grant) },
    body: JSON.stringify({ model: 'scripted', messages }),
  });
  const { error } = (await response.json()) as OpenAiRefusal; // an answer of the kernel
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
): Promise<Told> {
  await meanwhile();
  const given = grant === undefined ? {} : { 'countersign/approval_grant': grant };
  const client = bearer === undefined ? mcp : await connectMcp(test.kernel.url, bearer);
  const result = await client.callTool({
    name: tool,
    arguments: args,
    _meta: { 'countersign/session_id': session, ...given, ...meta },
  });
  if (client !== mcp) await client.close();
  const said = (name: string) => String(result._meta?.[`countersign/${name}`]);
  const approvalId = said('approval_id') as ApprovalId; // 'undefined' when none was asked for
  const released = result.isError !== true;
  return {
    verdict: said('verdict'),
    code: said('reason_code'),
    receiptId: said('receipt_id'),
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
): Promise<Told> {
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

/** A model that asks for one tool after something has happened: the call to the model is decided then, the tool is not yet. */
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
