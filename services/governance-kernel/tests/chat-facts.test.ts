import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { adminKey } from './_kernel.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

const starter = fileURLToPath(new URL('../../../infra/local/policy/starter.yaml', import.meta.url));
const reports = ['tools', 'hosted_tools', 'unknown_members', 'content_types', 'priced_apart', 'store', 'service_tier'];
/** Reads every fact of a call and requires an approval, which shows these facts. */
const asking = `
format: countersign/policy.v1
name: asking
version: '1'
rules:
  - id: ask
    effect: escalate
    match: { action: [model.call] }
    when: ${reports.map((name) => `(has(args.${name}) || true)`).join(' && ')}
    reason: A person reads the facts.
`;

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
  await upstreams.test.activate('asked', asking);
  await upstreams.test.activate('starter', readFileSync(starter, 'utf8'));
});
afterAll(() => upstreams.close());

const messages = [{ role: 'user' as const, content: 'go' }];
const functionTool = (name: string) => ({ type: 'function' as const, function: { name } });
const functionTools = (count: number) => Array.from({ length: count }, (_, index) => functionTool(`f${index}`));

/** Sends a request with any members, as an arbitrary client may. */
async function ask(tenant: string, more: object) {
  const response = await fetch(`${upstreams.test.kernel.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': tenant, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'scripted', messages, ...more }),
  });
  const { error } = (await response.json()) as { error?: Record<string, unknown> };
  return { status: response.status, ...error };
}

/** The facts of a call that the rules read. */
async function factsOf(more: object): Promise<Record<string, unknown>> {
  expect(await ask('asked', more)).toMatchObject({ status: 403, code: 'approval_required' });
  const { body } = await upstreams.test.as('asked').listApprovals({ query: { limit: 1 } });
  const facts = Object.entries(body.data[0]?.facts ?? {});
  return Object.fromEntries(facts.map(([name, value]) => [name.replace('args.', ''), value]));
}

describe('the facts of a model call', () => {
  it('contain each tool by name, once, and provider tools by type', async () => {
    const custom = { type: 'custom', custom: { name: 'grammar' } };
    const search = { type: 'web_search', function: { name: 'harmless' } };
    const tools = [functionTool('lookup'), custom, search, { type: 'Function' }];
    expect(await factsOf({ tools, functions: [{ name: 'legacy' }] })).toMatchObject({
      tools: ['lookup', 'grammar', 'legacy'],
      hosted_tools: ['Function', 'web_search'],
      unknown_members: [],
    });
  });

  it.each<[string, object, string[]]>([
    ['search', { web_search_options: {} }, ['web_search_options']],
    ['plugins', { plugins: [{ id: 'web' }] }, ['plugins']],
    ['data', { data_sources: [] }, ['data_sources']],
    ['a choice of a tool that is not in the list', { tool_choice: { type: 'mcp' } }, ['mcp']],
    ['an unknown choice of tools', { tool_choice: 'web' }, ['unreadable']],
    [
      'a tool in its allowed tools',
      { tool_choice: { type: 'allowed_tools', allowed_tools: { tools: [functionTool('f'), { type: 'mcp' }] } } },
      ['mcp'],
    ],
  ])('list as a tool of the provider: %s', async (_what, more, hosted_tools) => {
    expect(await factsOf(more)).toMatchObject({ hosted_tools, unknown_members: [] });
  });

  it('contain no provider tools for a request as SDKs send it', async () => {
    const passive = {
      ...{ temperature: 0, top_p: 1, seed: 1, stop: ['x'], logprobs: true, top_logprobs: 2, reasoning_effort: 'low' },
      ...{ tool_choice: functionTool('f'), tools: [functionTool('f')], parallel_tool_calls: false, verbosity: 'low' },
      ...{ response_format: { type: 'text' }, metadata: {}, plugins: null, audio: null, modalities: ['text'] },
      ...{ service_tier: 'default', store: false, max_completion_tokens: 5, n: 1, user: 'u', stream_options: null },
    };
    expect(await factsOf(passive)).toMatchObject({
      ...{ hosted_tools: [], unknown_members: [], priced_apart: [], content_types: ['text'] },
      ...{ store: false, service_tier: 'default' },
    });
  });

  it('contain each unknown member in its own spelling, whatever its value', async () => {
    const unknown = ['Plugins', 'constructor', 'models', 'plugins\u200b', 'ｐlugins'];
    const more = Object.fromEntries(unknown.map((name) => [name, null]));
    const facts = await factsOf(more);
    expect(facts['unknown_members']).toEqual([...unknown].sort());
    expect(facts['priced_apart']).toEqual([...unknown].sort());
  });

  it('contain each unknown member of a function tool, since some servers treat it as a tool', async () => {
    const tools = [
      { ...functionTool('f'), googleSearch: {} },
      { ...functionTool('g'), cache_control: {}, googleSearch: null },
    ];
    const unknown = ['tools.googleSearch'];
    expect(await factsOf({ tools })).toMatchObject({
      tools: ['f', 'g'],
      unknown_members: unknown,
      priced_apart: unknown,
    });
  });

  it('contain each type of content, and audio that the provider stores', async () => {
    const pieces = [{ type: 'text', text: 'a' }, { type: 'image_url', image_url: { url: 'https://example.org' } }, 'b'];
    const kept = { role: 'assistant', audio: { id: 'audio_1' }, reasoning_content: 'c', refusal: null };
    const facts = await factsOf({ messages: [{ role: 'user', content: pieces }, kept, { role: 'user', content: {} }] });
    expect(facts['content_types']).toEqual(['audio', 'image_url', 'text', 'unreadable']);
    expect(facts['priced_apart']).toEqual(['audio', 'unreadable']);
  });

  it.each<[string, object, string]>([
    ['more than 128 tools', { tools: functionTools(129) }, 'tools'],
    [
      'more than 128 tools and functions',
      { tools: functionTools(100), functions: functionTools(29).map(({ function: named }) => named) },
      'tools',
    ],
    ['a function without a name', { tools: [{ type: 'function', name: 'responses_style' }] }, 'tools.0.function'],
    ['a function with a second name', { tools: [{ ...functionTool('a'), custom: { name: 'b' } }] }, 'tools.0.function'],
    ['a custom tool without a name', { tools: [{ type: 'custom', function: { name: 'a' } }] }, 'tools.0.custom'],
    ['an invalid name', { tools: [functionTool('a\nb')] }, 'tools.0.function.name'],
    ['a legacy function without a name', { functions: [{}] }, 'functions.0.name'],
    ['legacy functions that are not a list', { functions: { name: 'a' } }, 'functions'],
    ['a member with an invalid name', { 'a\nb': 1 }, '"a\\nb"'],
    ['a service tier that is not a text', { service_tier: { priority: true } }, 'service_tier'],
    ['a member store that is not a boolean', { store: 'yes' }, 'store'],
    [
      'too many types of content',
      { messages: [{ role: 'user', content: Array.from({ length: 33 }, (_, index) => ({ type: `t${index}` })) }] },
      'messages',
    ],
  ])('are not read from a request with %s, which is refused before the model is called', async (_what, more, param) => {
    const requestCount = upstreams.model.requests.length;
    expect(await ask('acme', more)).toMatchObject({ status: 400, code: 'INVALID_REQUEST', param });
    expect(upstreams.model.requests).toHaveLength(requestCount);
  });

  it('are not read from a request with too many unknown members, which is refused', async () => {
    const members = (count: number) => Object.fromEntries(functionTools(count).map((_, index) => [`m${index}`, 1]));
    expect(await ask('acme', members(65))).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
    expect((await factsOf(members(64)))['unknown_members']).toHaveLength(64);
  });

  it('contain all of 128 tools', async () => {
    expect((await factsOf({ tools: functionTools(128) }))['tools']).toHaveLength(128);
  });
});

describe('the starter policy', () => {
  const starterClient = () => upstreams.openai({ tenant: 'starter' }).chat.completions;

  it.each<[string, object, RegExp]>([
    ['a search at the provider', { web_search_options: {} }, /args\.hosted_tools/],
    ['a tool at the provider', { tools: [{ type: 'code_interpreter' }] }, /args\.hosted_tools/],
    ['a model that searches the web', { model: 'openai/gpt-5:online' }, /searches the web/],
    ['a model made for searching', { model: 'gpt-4o-search-preview-2025-03-11' }, /searches the web/],
    ['a member in another case', { Web_Search_Options: {} }, /args\.unknown_members/],
    ['a search inside a function', { tools: [{ ...functionTool('f'), googleSearch: {} }] }, /args\.unknown_members/],
    ['fallback models', { models: ['gpt-5:online'] }, /args\.unknown_members/],
  ])('denies %s before the model is called', async (_what, more, message) => {
    const requestCount = upstreams.model.requests.length;
    const denied = starterClient().create({ model: 'scripted', messages, ...more } as never); // unknown to the SDK
    const error: unknown = await denied.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(error).toMatchObject({ code: 'policy_denied', message: expect.stringMatching(message) });
    expect(upstreams.model.requests).toHaveLength(requestCount);
  });

  it('reports the unknown members in their spelling, up to a limit', async () => {
    const denialOf = async (more: object) => {
      const denied = starterClient().create({ model: 'scripted', messages, ...more } as never); // unknown to the SDK
      return (await denied.catch((reason: unknown) => reason)) as { error: { details: { args?: object } } };
    };
    const spelled = { max_toks: 1, '<b>"x\\y': 1, tools: [{ ...functionTool('f'), googleSearch: {} }] };
    const unknown_members = ['<b>"x\\y', 'max_toks', 'tools.googleSearch'];
    expect((await denialOf(spelled)).error.details.args).toEqual({ unknown_members });
    const many = Object.fromEntries(Array.from({ length: 64 }, (_, nth) => [`m${nth}`.padEnd(250, 'x'), 1]));
    expect((await denialOf(many)).error.details.args).toEqual({
      unknown_members: Object.keys(many).sort().slice(0, 16),
    });
    const hosted = await denialOf({ tools: [{ type: 'code_interpreter' }] });
    expect(hosted.error.details).not.toHaveProperty('args');
  });

  it('allows a handoff and a structured answer that it declares, and no other', async () => {
    for (const [name, code] of [
      ['transfer_to_billing', null],
      ['final_answer', null],
      ['transfer_to_shell', 'POLICY_DENIED'],
    ] as const) {
      const content = `call:${name} {"reason":"x"}`;
      const call = { model: 'scripted', messages: [{ role: 'user' as const, content }] };
      const [choice] = (await starterClient().create(call)).choices;
      const called = choice?.message.tool_calls?.map((each) => each.type === 'function' && each.function.name) ?? [];
      expect([name, called]).toEqual([name, code === null ? [name] : []]);
      if (code !== null) expect(choice?.message.refusal).toContain(code);
    }
  });

  it("allows a call with its caller's own tools", async () => {
    const call = { model: 'scripted', messages, tools: [functionTool('lookup')], temperature: 0, max_tokens: 10 };
    expect((await starterClient().create(call)).choices).toHaveLength(1);
  });
});

describe('a tool that a workspace blocks', () => {
  it('is also blocked at the provider, in any spelling', async () => {
    const { test } = upstreams;
    await test.activate(
      'blocking',
      'format: countersign/policy.v1\nname: open\nversion: "1"\nrules: [{ id: all, effect: allow }]\n',
    );
    const searching = { tools: [{ type: 'Web_Search' }] };
    expect(await ask('blocking', searching)).toMatchObject({ status: 200 });
    await test.system.putToolBlocks({
      params: { tenant: 'blocking' },
      body: { version: 1, tools: ['web_search'] },
    });
    expect(await ask('blocking', searching)).toMatchObject({ status: 403, code: 'policy_denied' });
    expect(await ask('blocking', {})).toMatchObject({ status: 200 });
  });
});

describe('the routes under /v1', () => {
  it('are listed in the answer to a client of the Responses API', async () => {
    const request = upstreams.openai().responses.create({ model: 'scripted', input: 'go' });
    const error: unknown = await request.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ code: 'ROUTE_NOT_FOUND', type: 'not_found_error' });
    for (const route of ['POST /v1/chat/completions', 'GET /v1/models', 'GET /v1/models/{model}'])
      expect(String(error)).toContain(route);
  });
});
