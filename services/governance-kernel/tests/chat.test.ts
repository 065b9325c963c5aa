import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { followDirectives } from '@countersign/testkit/scripted-model';
import { verifies } from '@countersign/testkit/verifies';
import OpenAI from 'openai';
import type { ChatCompletion, ChatCompletionMessage } from 'openai/resources/chat/completions';
import { adminKey } from './_kernel.ts';
import { approve, receiptsOf, startUpstreams, upstreamKey, type OpenAiOptions, type Upstreams } from './_upstreams.ts';

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.close());
beforeEach(() => upstreams.model.follow(followDirectives));

let sessions = 0;
const newSession = () => `chat-session-${(sessions += 1)}`;
const inSession = (session: string): OpenAiOptions => ({ headers: { 'X-Gov-Session-ID': session } });
const user = (content: string) => [{ role: 'user' as const, content }];
const ask = (content: string, options?: OpenAiOptions) =>
  upstreams.openai(options).chat.completions.create({ model: 'scripted', messages: user(content) });
const streamed = (content: string, options?: OpenAiOptions) =>
  upstreams
    .openai(options)
    .chat.completions.stream({ model: 'scripted', messages: user(content) })
    .finalChatCompletion();

type Governed = ChatCompletionMessage & { countersign?: { decisions: Record<string, string>[] } };
const messageOf = (completion: ChatCompletion, index = 0): Governed => {
  const message = completion.choices[index]?.message;
  if (message === undefined) throw new Error('no choice');
  return message;
};
const functionsOf = (message: ChatCompletionMessage) =>
  (message.tool_calls ?? []).map((call) =>
    call.type === 'function' ? `${call.function.name} ${call.function.arguments}` : call.type,
  );

describe('the OpenAI SDK against the boundary', () => {
  verifies(
    'kn.chat.openai',
    'gets a whole answer as the model sent it, and a decision and an outcome are sealed',
    async () => {
      const session = newSession();
      const { data, response } = await upstreams
        .openai(inSession(session))
        .chat.completions.create({ model: 'scripted', messages: user('hello'), n: 2 })
        .withResponse();
      expect(data.choices.map(({ message, finish_reason }) => [message.content, finish_reason])).toEqual([
        ['countersign-scripted-model heard: hello', 'stop'],
        ['countersign-scripted-model heard: hello', 'stop'],
      ]);
      expect(data.usage?.total_tokens).toBeGreaterThan(0);
      expect(response.headers.get('x-gov-verdict')).toBe('ALLOW');
      expect(await receiptsOf(upstreams.test, session)).toMatchObject([
        {
          kind: 'decision',
          action: 'model.call',
          verdict: 'ALLOW',
          receipt_id: response.headers.get('x-gov-receipt-id'),
        },
        { kind: 'outcome', action: 'model.call', outcome: 'completed' },
      ]);
    },
  );

  verifies('kn.chat.openai', 'gets a streamed answer with include_usage piece by piece, with its usage', async () => {
    const chunks = await upstreams.openai().chat.completions.create({
      model: 'scripted',
      messages: user('hello streams'),
      stream: true,
      stream_options: { include_usage: true },
    });
    const pieces: string[] = [];
    let usage = 0;
    for await (const chunk of chunks) {
      pieces.push(chunk.choices[0]?.delta.content ?? '');
      usage = chunk.usage?.total_tokens ?? usage;
    }
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join('')).toBe('countersign-scripted-model heard: hello streams');
    expect(usage).toBeGreaterThan(0);
  });

  verifies('kn.chat.openai', 'gets parallel tool calls whole, in one answer and in a stream', async () => {
    const directives = 'call:notes__read_note {"id":"a"}\ncall:notes__read_note {"id":"b"}';
    const expected = ['notes__read_note {"id":"a"}', 'notes__read_note {"id":"b"}'];
    const [whole, stream] = [await ask(directives), await streamed(directives)];
    expect(functionsOf(messageOf(whole))).toEqual(expected);
    expect(functionsOf(messageOf(stream))).toEqual(expected);
    expect([whole.choices[0]?.finish_reason, stream.choices[0]?.finish_reason]).toEqual(['tool_calls', 'tool_calls']);
  });

  verifies('kn.chat.openai', 'runs the tool runner of the SDK from the call to the answer', async () => {
    const runner = upstreams.openai().chat.completions.runTools({
      model: 'scripted',
      messages: user('call:lookup {"city":"Bern"}'),
      tools: [
        {
          type: 'function',
          function: {
            name: 'lookup',
            description: 'Weather',
            parameters: { type: 'object' },
            function: (_text: string) => 'rain',
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain('1. rain');
  });

  verifies(
    'kn.chat.openai',
    'gets a denial as a PermissionDeniedError with its reason, and the model is not called',
    async () => {
      const requestCount = upstreams.model.requests.length;
      const denied = upstreams.openai().chat.completions.create({ model: 'forbidden', messages: user('hello') });
      const error = await denied.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
      expect(error).toMatchObject({ status: 403, code: 'policy_denied', error: { reason_code: 'NO_MATCHING_RULE' } });
      expect(upstreams.model.requests).toHaveLength(requestCount);
    },
  );

  it('has its body forwarded unchanged, and of its headers only the trace', async () => {
    const body = '{ "model":"scripted",  "messages":[{"role":"user","content":"1.0 \\u0041"}], "temperature":1.0 }';
    const headers = {
      authorization: `bearer ${adminKey}`,
      'content-type': 'application/json',
      cookie: 'session=secret',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'x-gov-tenant-id': 'acme',
      'x-gov-session-id': newSession(),
    };
    const response = await fetch(`${upstreams.test.kernel.url}/v1/chat/completions`, { method: 'POST', headers, body });
    expect(response.status).toBe(200);
    const sent = upstreams.model.requests.at(-1);
    expect(sent?.body).toBe(body);
    expect(sent?.headers.authorization).toBe(`Bearer ${upstreamKey}`);
    expect(sent?.headers['traceparent']).toBe(headers.traceparent);
    expect(JSON.stringify(sent?.headers)).not.toMatch(new RegExp(`x-gov|cookie|${adminKey}`, 'i'));
  });

  it('lists the models of the upstream with known members only', async () => {
    const { data } = await upstreams.openai().models.list();
    expect(data).toEqual([{ id: 'countersign-scripted-model', object: 'model', created: 0, owned_by: 'countersign' }]);
    expect(upstreams.model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${upstreamKey}`);
  });

  it('finds a model by its ID, which may contain slashes', async () => {
    const { models } = upstreams.openai();
    const id = 'countersign-scripted-model';
    expect(await models.retrieve(id)).toMatchObject({ id, object: 'model', owned_by: 'countersign' });
    await expect(models.retrieve('vendor/no-such-model')).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  it.each([200, 429])('gets the rate limit headers of the upstream with status %d', async (status) => {
    const limits = {
      'retry-after': '7',
      'retry-after-ms': '6900',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-requests': '6m0s',
    };
    const own = { 'set-cookie': 'a=b', 'x-ratelimit-odd': '<script>' };
    const statement = { choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] };
    upstreams.model.follow(() => (res) => {
      res.writeHead(status, { 'content-type': 'application/json', ...limits, ...own }).end(JSON.stringify(statement));
    });
    const { response } = await upstreams
      .openai()
      .chat.completions.create({ model: 'scripted', messages: user('hello') })
      .withResponse()
      .catch((error: unknown) => ({ response: error as { headers: Headers } })); // an APIError has headers
    for (const [name, value] of Object.entries(limits))
      expect([name, response.headers.get(name)]).toEqual([name, value]);
    for (const name of Object.keys(own)) expect(response.headers.get(name)).toBeNull();
  });

  it('gets an error of the upstream in the middle of a stream', async () => {
    const error = { message: 'The engine is overloaded', type: 'server_error', code: 'overloaded', secret: 'x' };
    upstreams.model.follow(() => (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(`data: ${JSON.stringify({ error })}\n\n`);
    });
    const broken = await streamed('hello').catch((reason: unknown) => reason);
    expect(broken).toBeInstanceOf(OpenAI.APIError);
    expect(broken).toMatchObject({ code: 'overloaded', error: { message: 'The engine is overloaded' } });
    expect(JSON.stringify(broken)).not.toContain('secret');
  });

  it('gets the name of an invalid member', async () => {
    const { completions } = upstreams.openai().chat;
    const wrong = completions.create({ model: '', messages: user('hello') });
    await expect(wrong).rejects.toMatchObject({
      status: 400,
      param: 'model',
      message: expect.stringContaining('model: '),
    });
  });

  it('calls the model once per Idempotency-Key and refuses the key for a stream', async () => {
    const options = { headers: { 'Idempotency-Key': 'chat-once-1' } };
    const requestCount = upstreams.model.requests.length;
    const [first, second] = [await ask('once', options), await ask('once', options)];
    expect(second).toEqual(first);
    expect(upstreams.model.requests).toHaveLength(requestCount + 1);
    await expect(ask('twice', options)).rejects.toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    await expect(streamed('stream', { headers: { 'Idempotency-Key': 'chat-once-2' } })).rejects.toMatchObject({
      status: 400,
    });
  });
});

describe("tool calls in a model's answer", () => {
  verifies('kn.chat.tools', 'are removed when they are denied, and the receipt contains the reason', async () => {
    const session = newSession();
    const completion = await ask('call:notes__delete_note {"id":"a"}', inSession(session));
    const message = messageOf(completion);
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    expect(message.tool_calls).toBeUndefined();
    const [, decision] = await receiptsOf(upstreams.test, session);
    expect(decision).toMatchObject({
      action: 'tool.call',
      tool: 'notes.delete_note',
      verdict: 'DENY',
      reason_code: 'POLICY_DENIED',
    });
    expect(message.refusal).toContain('notes.delete_note was not executed: DENY POLICY_DENIED');
    expect(message.refusal).toContain(decision?.receipt_id);
    expect(message.content).toBe(message.refusal);
    expect(message.countersign?.decisions).toMatchObject([
      { tool: 'notes.delete_note', verdict: 'DENY', receipt_id: decision?.receipt_id },
    ]);
  });

  verifies(
    'kn.chat.tools',
    'are withheld from a stream when they are denied, and no fragment of them is sent',
    async () => {
      const response = await upstreams
        .openai()
        .chat.completions.create({
          model: 'scripted',
          messages: user('call:notes__delete_note {"id":"top secret"}'),
          stream: true,
        })
        .asResponse();
      const text = await response.text();
      expect(text).not.toContain('tool_calls');
      expect(text).not.toContain('top secret');
      expect(text).toContain('"finish_reason":"stop"');
      expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
      const final = await streamed('call:notes__delete_note {"id":"a"}');
      expect(messageOf(final).refusal).toContain('POLICY_DENIED');
    },
  );

  verifies('kn.chat.tools', 'are released only if they are allowed, whole and in a stream', async () => {
    const directives =
      'call:notes__read_note {"id":"a"}\ncall:notes__delete_note {"id":"a"}\ncall:notes__read_note {"id":"c"}';
    for (const completion of [await ask(directives), await streamed(directives)]) {
      expect(functionsOf(messageOf(completion))).toEqual([
        'notes__read_note {"id":"a"}',
        'notes__read_note {"id":"c"}',
      ]);
      expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
      expect(messageOf(completion).content).toMatch(/^notes\.delete_note was not executed: DENY POLICY_DENIED/);
      expect(messageOf(completion).countersign?.decisions.map(({ verdict }) => verdict)).toEqual([
        'ALLOW',
        'DENY',
        'ALLOW',
      ]);
    }
  });

  verifies(
    'kn.chat.tools',
    'name their approval when they are escalated, and pass once after it was granted',
    async () => {
      const options = inSession(newSession());
      const waiting = messageOf(await ask('call:pay {"amount":7}', options));
      const [decision] = waiting.countersign?.decisions ?? [];
      expect(waiting.refusal).toContain(decision?.['approval_id'] ?? 'no approval');
      expect(decision).toMatchObject({ verdict: 'ESCALATE', arguments: '{"amount":7}' });
      await approve(upstreams.test, decision?.['approval_id'] ?? '');
      expect(functionsOf(messageOf(await ask('call:pay {"amount":8}', options)))).toEqual([]);
      expect(functionsOf(messageOf(await ask('call:pay {"amount":7}', options)))).toEqual(['pay {"amount":7}']);
      expect(functionsOf(messageOf(await ask('call:pay {"amount":7}', options)))).toEqual([]);
    },
  );

  it.each([
    ['arguments that are not an object', 'notes__read_note', '["a"]', 'MALFORMED_ARGUMENTS'],
    ['truncated arguments', 'notes__read_note', '{"id":"a', 'MALFORMED_ARGUMENTS'],
    ['a duplicate member', 'notes__read_note', '{"id":"a","id":"b"}', 'MALFORMED_ARGUMENTS'],
    ['arguments that violate the pinned schema', 'notes__read_note', '{"id":1}', 'SCHEMA_VIOLATION'],
    ['an undeclared function', 'unheard_of', '{}', 'NO_MATCHING_RULE'],
  ])('are denied with %s', async (_case, name, text, reason) => {
    for (const completion of [await ask(`call:${name} ${text}`), await streamed(`call:${name} ${text}`)]) {
      expect(messageOf(completion).tool_calls ?? []).toEqual([]);
      expect(messageOf(completion).countersign?.decisions).toMatchObject([{ verdict: 'DENY', reason_code: reason }]);
    }
  });

  verifies(
    'kn.chat.tools',
    'are governed in the legacy and the custom form too, and denied with an unknown type',
    async () => {
      const message = {
        role: 'assistant',
        content: null,
        function_call: { name: 'notes__delete_note', arguments: '{"id":"a"}' },
        tool_calls: [
          { id: 'c1', type: 'custom', custom: { name: 'shell', input: 'rm -rf /' } },
          { id: 'c2', type: 'computer_call', action: { type: 'click' } },
        ],
        tool_use: { name: 'sneaked' },
      };
      upstreams.model.follow(
        () => (res) =>
          res.writeHead(200, { 'content-type': 'application/json' }).end(
            JSON.stringify({
              id: 'x',
              choices: [{ index: 0, message, finish_reason: 'function_call' }],
              actions: [{ run: 'it' }],
            }),
          ),
      );
      const completion = await ask('anything');
      expect(JSON.stringify(completion)).not.toMatch(/rm -rf|click|sneaked|"actions"|function_call/);
      expect(messageOf(completion).countersign?.decisions.map(({ tool, verdict }) => [tool, verdict])).toEqual([
        ['shell', 'DENY'],
        ['computer_call', 'DENY'],
        ['notes.delete_note', 'DENY'],
      ]);
    },
  );
});
