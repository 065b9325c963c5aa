import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { AgentCapabilitiesSchema, EventSchema, RunAgentInputSchema } from '@ag-ui/core/schemas';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AgentUiEvent, RunAgentInput } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { newSession } from './_caller.ts';
import { adminKey } from './_kernel.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams({ GOV_AGENT_UI_MODEL: 'scripted' });
});
afterAll(() => upstreams.close());

const runPath = '/api/v1/agent-ui/run';
const headers = { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme', 'x-gov-principal-id': 'agent' };
const lastRequest = () => JSON.parse(upstreams.model.requests.at(-1)?.body ?? '{}') as { messages: object[] };

type Sent = { status: number; text: string };
async function send(body: object, more: Record<string, string> = {}): Promise<Sent> {
  const response = await fetch(`${upstreams.test.kernel.url}${runPath}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', ...more },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}
const hello = [{ id: 'm0', role: 'user', content: 'hello' }];
const input = (more: object = {}) => ({ threadId: newSession(), runId: 'r1', messages: hello, ...more });
const codeOf = ({ status, text }: Sent) => {
  const { error } = JSON.parse(text) as { error: { code: string; param: string | null } };
  return `${status} ${error.code} ${error.param}`;
};

describe('the input of a run', () => {
  it('becomes a chat completion request with context, images, tool results and forwarded model settings', async () => {
    const image = { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } };
    const messages = [
      { id: '1', role: 'system', content: 'Be brief.' },
      { id: '2', role: 'reasoning', content: 'not for the model' },
      { id: '3', role: 'user', content: [{ type: 'text', text: 'look' }, image] },
      {
        ...{ id: '4', role: 'assistant', content: 'Looking.' },
        toolCalls: [{ id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{}' } }],
      },
      { id: '5', role: 'tool', toolCallId: 'c1', content: 'half', error: 'timed out' },
    ];
    const values = input({
      messages,
      context: [{ description: 'The page', value: 'orders' }],
      forwardedProps: { model: 'large', temperature: 0.2, streamSubgraphs: true },
      state: { open: 3 },
    });
    expect(RunAgentInputSchema.safeParse(values).success).toBe(true);
    expect(RunAgentInput.safeParse(values).error).toBeUndefined();
    upstreams.model.follow(() => ({ text: 'Done.' }));
    expect((await send(values)).status).toBe(200);
    expect(lastRequest()).toEqual({
      model: 'large',
      messages: [
        { role: 'system', content: 'Context of the page:\n\nThe page:\norders' },
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          ],
        },
        {
          ...{ role: 'assistant', content: 'Looking.' },
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'half\n\nError: timed out' },
      ],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.2,
    });
  });

  it.each([
    ['a thread without a name', { threadId: '' }, '400 INVALID_REQUEST threadId'],
    ['no message', { messages: [] }, '400 INVALID_REQUEST messages'],
    [
      'a role that AG-UI does not define',
      { messages: [{ id: '1', role: 'owner', content: 'x' }] },
      '400 INVALID_REQUEST messages.0.role',
    ],
    [
      'content that a chat completion cannot contain',
      {
        messages: [
          {
            ...{ id: '1', role: 'user' },
            content: [{ type: 'video', source: { type: 'url', value: 'https://example.com/v' } }],
          },
        ],
      },
      '400 INVALID_REQUEST messages.0.content',
    ],
    ['a model that is not a text', { forwardedProps: { model: 7 } }, '400 INVALID_REQUEST model'],
  ])('is refused before any event: %s', async (_name, more, text) => {
    expect(codeOf(await send(input(more)))).toBe(text);
  });

  it('is refused before any event: an answer to an unreported interrupt', async () => {
    const resume = [{ interruptId: 'unknown', status: 'resolved' }];
    expect(codeOf(await send(input({ resume })))).toBe('400 INVALID_REQUEST resume.0.interruptId');
  });

  it('requires a model when none is configured', async () => {
    const plain = await startUpstreams();
    const response = await fetch(`${plain.test.kernel.url}${runPath}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(input()),
    });
    const text = codeOf({ status: response.status, text: await response.text() });
    await plain.close();
    expect(text).toBe('400 INVALID_REQUEST forwardedProps.model');
  });
});

/** The events of an answer. Each matches the published schema and our own. */
function eventsIn({ text }: Sent): AgentUiEvent[] {
  const events = text.split('\n\n').filter((event) => event !== '');
  return events.map((event) => {
    const value: unknown = JSON.parse(event.slice('data: '.length));
    expect(EventSchema.safeParse(value)).toMatchObject({ success: true });
    return AgentUiEvent.parse(value);
  });
}

const streaming = (chunks: object[]) => () => (res: ServerResponse) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunks) res.write(`data: ${JSON.stringify({ id: 'c', ...chunk })}\n\n`);
  res.end('data: [DONE]\n\n');
};
const choice = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});

describe('the answer of a model', () => {
  it('becomes function calls with unique ids, whatever form its calls have', async () => {
    const custom = { type: 'custom', custom: { name: 'lookup', input: 'any text' } };
    const called = { type: 'function', function: { name: 'lookup', arguments: '{"q":1}' } };
    const calls = [custom, called, called].map((call, index) => ({ index, id: index < 2 ? 'same' : null, ...call }));
    upstreams.model.follow(
      streaming([
        choice({ content: [{ type: 'text', text: 'Looking.' }] }),
        choice({ tool_calls: calls, function_call: { name: 'lookup', arguments: '{"q":2}' } }),
        choice({}, 'tool_calls'),
      ]),
    );
    const events = eventsIn(await send(input()));
    expect(events.flatMap((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? [event.delta] : []))).toEqual([
      'Looking.',
    ]);
    const ids = events.flatMap((event) => (event.type === 'TOOL_CALL_START' ? [event.toolCallId] : []));
    expect(new Set(ids).size).toBe(4);
    const args = events.flatMap((event) => (event.type === 'TOOL_CALL_ARGS' ? [event.delta] : []));
    expect(args).toEqual(['{"input":"any text"}', '{"q":1}', '{"q":1}', '{"q":2}']);
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ids } });
  });

  it('is text when the model refuses', async () => {
    upstreams.model.follow(streaming([choice({ refusal: 'I will not.' }), choice({}, 'stop')]));
    const events = eventsIn(await send(input()));
    expect(events.find(({ type }) => type === 'TEXT_MESSAGE_CONTENT')).toMatchObject({ delta: 'I will not.' });
  });

  verifies('kn.agentui', 'that ends with a server error is reported with the server message and our code', async () => {
    upstreams.model.follow(
      streaming([choice({ content: 'a' }), { error: { message: 'out of memory', code: 'oom', type: 'theirs' } }]),
    );
    const events = eventsIn(await send(input()));
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: 'out of memory', code: 'UPSTREAM_FAILED' });
  });

  it('with an error status keeps the status, with our code', async () => {
    upstreams.model.follow(() => (res) => {
      res.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' });
      res.end(JSON.stringify({ error: { message: 'slow down', code: 'rate_limit_exceeded', type: 'theirs' } }));
    });
    const answer = await send(input());
    expect(codeOf(answer)).toBe('429 UPSTREAM_FAILED null');
    expect(JSON.parse(answer.text)).toMatchObject({ error: { message: 'slow down', reason_code: null } });
  });
});

it('the command in docs/model-calls.md streams a run', async () => {
  const docs = readFileSync(new URL('../../../docs/model-calls.md', import.meta.url), 'utf8');
  const [, command = 'false'] = /^## AG-UI\n[^]*?^```sh\n([^]*?)^```$/m.exec(docs) ?? [];
  const terms = { kind: 'agent', principal_id: 'page' } as never; // the kernel fills in the defaults
  const { key } = (await upstreams.test.as('acme').createAccessKey({ body: terms })).body;
  upstreams.model.follow(() => ({ text: 'Hello.' }));
  const variables = { AGENT_KEY: key, KERNEL_URL: upstreams.test.kernel.url, PATH: '/usr/local/bin:/usr/bin:/bin' };
  const run = promisify(execFile)('sh', ['-c', command.replace('gpt-5-mini', 'scripted')], { env: variables });
  const events = eventsIn({ status: 200, text: (await run).stdout });
  expect(events.map(({ type }) => type)).toEqual([
    ...['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'RUN_FINISHED'],
  ]);
});

it.each(['/api/v1/agent-ui/info', '/api/ag-ui/info'])(
  '%s describes the protocol, the model, the policy and the capabilities',
  async (path) => {
    const response = await fetch(`${upstreams.test.kernel.url}${path}`, { headers });
    const body = (await response.json()) as { capabilities: object; policy: object };
    expect(body).toMatchObject({ protocol: 'ag-ui', transport: 'sse', version: '1.0', model: 'scripted' });
    expect(body.policy).toMatchObject({ policy_hash: expect.stringMatching(/^sha256:/), epoch: expect.any(Number) });
    expect(AgentCapabilitiesSchema.safeParse(body.capabilities).success).toBe(true);
  },
);
