import type { ServerResponse } from 'node:http';
import { HttpAgent, type AgentSubscriber, type BaseEvent, type Interrupt, type Message } from '@ag-ui/client';
import { EventSchema } from '@ag-ui/core/schemas';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AgentUiEvent } from '@countersign/contracts/governance-kernel';
import { followDirectives } from '@countersign/testkit/scripted-model';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { newSession } from './_caller.ts';
import { adminKey } from './_kernel.ts';
import { approve, receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams({ GOV_AGENT_UI_MODEL: 'scripted' });
});
afterAll(() => upstreams.close());
beforeEach(() => upstreams.model.follow(followDirectives));

const paths = ['/api/v1/agent-ui/run', '/api/ag-ui/run'] as const;
const headers = { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme', 'x-gov-principal-id': 'agent' };
const tools = ['lookup', 'notes__pay', 'notes__delete_note', 'notes__read_note'].map((name) => ({
  name,
  description: name,
  parameters: { type: 'object', properties: {} },
}));

type Seen = { events: BaseEvent[]; error: Error | null };

/** An agent of the real AG-UI client, in its own thread. */
function agentAt(path: string, more: Record<string, string> = {}): HttpAgent {
  const url = `${upstreams.test.kernel.url}${path}`;
  return new HttpAgent({ url, threadId: newSession(), headers: { ...headers, ...more } });
}

/**
 * One run by the client. Each event matches the published schemas and our own contract, which allows no other members.
 */
async function runOf(agent: HttpAgent, parameters: Parameters<HttpAgent['runAgent']>[0] = {}): Promise<Seen> {
  const seen: Seen = { events: [], error: null };
  const subscriber: AgentSubscriber = {
    onEvent: ({ event }) => void seen.events.push(event),
    onRunFailed: ({ error }) => void (seen.error = error),
  };
  await agent.runAgent({ tools, ...parameters }, subscriber).catch((error: Error) => (seen.error = error));
  for (const event of seen.events) {
    expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    expect(AgentUiEvent.safeParse(event).error?.issues).toBeUndefined();
  }
  return seen;
}

const ask = async (agent: HttpAgent, content: string, parameters?: Parameters<HttpAgent['runAgent']>[0]) => {
  agent.addMessage({ id: `m${agent.messages.length}`, role: 'user', content });
  return await runOf(agent, parameters);
};

const typesOf = ({ events }: Seen) =>
  events.map(({ type }) => String(type)).filter((type, nth, all) => type !== all[nth - 1]);
const lastOf = ({ events }: Seen) => events.at(-1) as BaseEvent & { outcome?: Outcome; code?: string; usage?: unknown };
type Outcome = { type: string; interrupts?: Interrupt[]; pendingToolCallIds?: string[] };
const withheldIn = ({ events }: Seen) =>
  events.flatMap((event) => (event.type === 'CUSTOM' ? [(event as unknown as { value: object }).value] : []));
const modelRequests = () => upstreams.model.requests.filter(({ method }) => method === 'POST');
const lastRequest = () => JSON.parse(modelRequests().at(-1)?.body ?? '{}') as { messages: object[]; model: string };
const outcomesOf = async ({ threadId }: HttpAgent) =>
  (await receiptsOf(upstreams.test, threadId)).map(({ action, verdict, kind, outcome }) =>
    kind === 'outcome' ? `${kind} ${outcome}` : `${action} ${verdict}`,
  );

describe.each(paths)('a run at %s', (path) => {
  verifies('kn.agentui', 'streams text, and seals the model call and its outcome', async () => {
    const agent = agentAt(path);
    const seen = await ask(agent, 'hello');
    expect(seen.error).toBeNull();
    expect(typesOf(seen)).toEqual([
      ...['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'RUN_FINISHED'],
    ]);
    expect(seen.events[0]).toMatchObject({ threadId: agent.threadId, protocolVersion: '1.0' });
    expect(lastOf(seen)).toMatchObject({ outcome: { type: 'success' }, usage: [{ outputTokens: expect.any(Number) }] });
    expect(agent.messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: 'countersign-scripted-model heard: hello',
    });
    expect(await outcomesOf(agent)).toEqual(['model.call ALLOW', 'outcome completed']);
  });

  verifies('kn.agentui', 'releases an allowed call as a whole, and continues with its result', async () => {
    const agent = agentAt(path);
    const seen = await ask(agent, 'call:lookup {"q":"x"}');
    expect(seen.error).toBeNull();
    expect(typesOf(seen)).toEqual([
      ...['RUN_STARTED', 'TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'RUN_FINISHED'],
    ]);
    const [call] = toolCallsOf(agent.messages);
    expect(call).toMatchObject({ function: { name: 'lookup', arguments: '{"q":"x"}' } });
    expect(lastOf(seen).outcome).toEqual({ type: 'success', pendingToolCallIds: [call?.id] });
    agent.addMessage({ id: 'result', role: 'tool', toolCallId: call?.id ?? '', content: 'found' });
    const answered = await runOf(agent);
    expect(lastOf(answered).outcome).toEqual({ type: 'success' });
    expect(agent.messages.at(-1)?.content).toContain('1. found');
    expect(lastRequest().messages.slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: call?.id }] },
      { role: 'tool', tool_call_id: call?.id, content: 'found' },
    ]);
  });

  verifies(
    'kn.agentui',
    'reports a denied call with its reason and next step, and releases no part of it',
    async () => {
      const agent = agentAt(path);
      const seen = await ask(agent, 'call:notes__delete_note {"id":"secret-id"}\ncall:lookup {}');
      expect(seen.error).toBeNull();
      expect(withheldIn(seen)).toMatchObject([
        {
          tool: 'notes.delete_note',
          verdict: 'DENY',
          reason_code: 'POLICY_DENIED',
          next_step: expect.stringMatching(/\w/),
          receipt_id: expect.stringMatching(/^rcp_/),
        },
      ]);
      expect(JSON.stringify(seen.events)).not.toContain('secret-id');
      expect(toolCallsOf(agent.messages).map(({ function: { name } }) => name)).toEqual(['lookup']);
      expect(agent.messages.at(-1)?.content).toContain('notes.delete_note was not executed: DENY POLICY_DENIED');
      expect(lastOf(seen).outcome?.type).toBe('success');
    },
  );

  verifies(
    'kn.agentui',
    'ends with an interrupt when a person must decide, and releases the call after its approval',
    async () => {
      const agent = agentAt(path);
      const seen = await ask(agent, 'call:notes__pay {"amount":7}');
      const [interrupt] = lastOf(seen).outcome?.interrupts ?? [];
      expect(seen.error).toBeNull();
      expect(interrupt).toMatchObject({
        id: expect.stringMatching(/^apr_/),
        message: expect.stringContaining('notes.pay'),
        metadata: { countersign: { approve_url: expect.stringContaining(interrupt?.id ?? 'none') } },
      });
      expect(withheldIn(seen)).toMatchObject([{ verdict: 'ESCALATE', approval_id: interrupt?.id }]);
      expect(toolCallsOf(agent.messages)).toEqual([]);
      expect(agent.pendingInterrupts.map(({ id }) => id)).toEqual([interrupt?.id]);

      const requestCount = modelRequests().length;
      const resume = [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const }];
      const early = await runOf(agent, { resume });
      expect(lastOf(early).outcome?.interrupts?.map(({ id }) => id)).toEqual([interrupt?.id]);
      expect(toolCallsOf(agent.messages)).toEqual([]);

      await approve(upstreams.test, interrupt?.id ?? '');
      const resumed = await runOf(agent, { resume });
      expect(resumed.error).toBeNull();
      expect(typesOf(resumed)).toEqual([
        ...['RUN_STARTED', 'TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'RUN_FINISHED'],
      ]);
      const [call] = toolCallsOf(agent.messages);
      expect(call).toMatchObject({ function: { name: 'notes__pay', arguments: '{"amount":7}' } });
      expect(lastOf(resumed).outcome).toEqual({ type: 'success', pendingToolCallIds: [call?.id] });
      expect(modelRequests()).toHaveLength(requestCount);
      expect(await outcomesOf(agent)).toEqual([
        ...['model.call ALLOW', 'tool.call ESCALATE', 'outcome completed'],
        ...['tool.call ESCALATE', 'approval.approve ALLOW', 'tool.call ALLOW'],
      ]);
      agent.addMessage({ id: 'result', role: 'tool', toolCallId: call?.id ?? '', content: 'paid' });
      expect((await runOf(agent)).error).toBeNull();
      expect(agent.messages.at(-1)?.content).toContain('1. paid');
    },
  );

  verifies('kn.agentui', 'ends with RUN_ERROR and the code UPSTREAM_FAILED when the answer breaks off', async () => {
    upstreams.model.follow(() => brokenStream);
    const agent = agentAt(path);
    const seen = await ask(agent, 'hello');
    expect(typesOf(seen)).toEqual([...['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'RUN_ERROR']]);
    expect(lastOf(seen)).toMatchObject({ code: 'UPSTREAM_FAILED' });
    expect(await outcomesOf(agent)).toEqual(['model.call ALLOW', 'outcome failed']);
  });

  verifies('kn.agentui', 'is refused with an ordinary error response before the stream starts', async () => {
    const agent = agentAt(path);
    const refused = await ask(agent, 'hello', { forwardedProps: { model: 'unlisted' } });
    expect(refused.events).toEqual([]);
    expect(refused.error).toMatchObject({
      status: 403,
      payload: { error: { code: 'POLICY_DENIED', reason_code: 'NO_MATCHING_RULE' } },
    });
  });

  verifies('kn.agentui', 'ends its model call when the client disconnects', async () => {
    const departure = new Promise<void>((resolve) => {
      upstreams.model.follow(() => (res) => {
        res.once('close', resolve);
        startStream(res);
        res.write(chunkOf({ content: 'first words' }));
      });
    });
    const agent = agentAt(path);
    agent.addMessage({ id: 'm0', role: 'user', content: 'hello' });
    const onTextMessageContentEvent = () => agent.abortRun();
    await agent.runAgent({ tools }, { onTextMessageContentEvent }).catch(() => undefined);
    await departure;
    await until(async () => (await outcomesOf(agent)).length === 2);
    expect(await outcomesOf(agent)).toEqual(['model.call ALLOW', 'outcome failed']);
  });
});

function startStream(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
}
function chunkOf(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices })}\n\n`;
}
function brokenStream(res: ServerResponse): void {
  startStream(res);
  res.end(chunkOf({ content: 'first words' }));
}

function toolCallsOf(messages: readonly Message[]) {
  return messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
}

describe('an interrupt', () => {
  const interrupted = async () => {
    const agent = agentAt(paths[0]);
    const amount = Math.floor(Math.random() * 1e9);
    const seen = await ask(agent, `call:notes__pay {"amount":${amount}}`);
    const [interrupt] = lastOf(seen).outcome?.interrupts ?? [];
    if (interrupt === undefined) throw new Error('the run was not interrupted');
    return { agent, interrupt };
  };

  verifies('kn.agentui', 'permits no other call under its approval', async () => {
    const { agent, interrupt } = await interrupted();
    await approve(upstreams.test, interrupt.id);
    const withheld = [
      { approval_id: interrupt.id, tool: 'notes__pay', tool_call_id: 'other', arguments: '{"amount":1000000000}' },
    ];
    const entry = { interruptId: interrupt.id, status: 'resolved' as const, metadata: { countersign: { withheld } } };
    const seen = await runOf(agent, { resume: [entry] });
    expect(toolCallsOf(agent.messages)).toEqual([]);
    const [request] = lastOf(seen).outcome?.interrupts ?? [];
    expect(request?.id).not.toBe(interrupt.id);
  });

  verifies('kn.agentui', 'can be resumed from its own metadata when the client kept no messages', async () => {
    const { agent, interrupt } = await interrupted();
    await approve(upstreams.test, interrupt.id);
    agent.setMessages([]);
    const entry = { interruptId: interrupt.id, status: 'resolved' as const, metadata: interrupt.metadata ?? {} };
    const seen = await runOf(agent, { resume: [entry] });
    expect(seen.error).toBeNull();
    expect(toolCallsOf(agent.messages)).toHaveLength(1);
  });

  verifies('kn.agentui', 'that an approver denies is denied when it is resumed', async () => {
    const { agent, interrupt } = await interrupted();
    const approver = upstreams.test.as('acme', 'approver');
    const { body } = await approver.listApprovals({ query: { state: 'pending' } });
    const approval = body.data.find(({ approval_id: id }) => id === interrupt.id);
    if (approval === undefined) throw new Error('it is not pending');
    await approver.transitionApproval({
      params: { approval_id: approval.approval_id, action: 'deny' },
      body: { expected_ceremony_hash: approval.ceremony_hash },
    });
    const seen = await runOf(agent, { resume: [{ interruptId: interrupt.id, status: 'resolved' }] });
    expect(withheldIn(seen)).toMatchObject([{ verdict: 'DENY', reason_code: 'APPROVAL_REJECTED' }]);
    expect(lastOf(seen).outcome).toEqual({ type: 'success' });
  });

  it('that is cancelled is reported to the model in a new model call', async () => {
    const { agent, interrupt } = await interrupted();
    upstreams.model.follow(() => ({ text: 'Very well.' }));
    const seen = await runOf(agent, { resume: [{ interruptId: interrupt.id, status: 'cancelled' }] });
    expect(lastOf(seen).outcome).toEqual({ type: 'success' });
    expect(lastRequest().messages.at(-1)).toMatchObject({
      role: 'user',
      content: expect.stringContaining(interrupt.id),
    });
  });
});
