import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import type { Transport } from '@modelcontextprotocol/client';
import { untilReachable } from '@countersign/testkit/until';
import { messageValuesMax, withBoundedMessages } from '../src/doors/mcp/bounded-messages.ts';
import { withFewValues } from '../src/doors/mcp/count-values.ts';
import { excessCode } from '../src/doors/mcp/excess.ts';
import { newSession } from './_caller.ts';
import type { ScriptedMcp } from './_scripted-mcp.ts';
import { receiptsOf, startScripted, type Upstreams } from './_upstreams.ts';

const annotations = { readOnlyHint: true };
const listed = { name: 'act', description: 'Acts.', inputSchema: { type: 'object' }, annotations };
/** A stdio server with the tool `act`. It answers its second call with one line of more than a million values. */
const flood = `
  let calls = 0;
  const tool = ${JSON.stringify(listed)};
  const many = Array.from({ length: ${messageValuesMax} }, () => 0);
  const results = {
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
    'tools/list': { tools: [tool] },
    'tools/call': { content: [], structuredContent: { many } },
  };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    const reply = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'unknown' } };
    if (method === 'tools/call' && ++calls === 2) {
      process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[],"structuredContent":{"many":[');
      return void process.stdout.write('{},'.repeat(1_350_000) + '0]}}}\\n');
    }
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...reply }) + '\\n');
  });`;
const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

let scripted: ScriptedMcp;
let upstreams: Upstreams;
let close: () => Promise<void>;
beforeAll(async () => {
  const overStdio = { transport: 'stdio', command: process.execPath, args: ['-e', flood] };
  const more = [{ server_id: 'flood', trust_annotations: true, ...overStdio }];
  ({ scripted, upstreams, close } = await startScripted({ more }));
});
afterAll(() => close());

async function called(tool = 'scripted.act'): Promise<{ text: string; sealed: string[] }> {
  const session = newSession();
  const body = { tool, args: {}, session_id: session } as never; // unbranded strings
  const { result } = (await upstreams.test.as('acme').executeMcp({ body })).body;
  const receipts = await receiptsOf(upstreams.test, session);
  return {
    text: JSON.stringify(result ?? {}),
    sealed: receipts.map(({ reason_code, outcome }) => outcome ?? reason_code),
  };
}

describeStory('an upstream MCP server that sends too much', () => {
  it('has its answer withheld before it is parsed, and the outcome is uncertain', async () => {
    const many = Array.from({ length: messageValuesMax }, () => ({}));
    scripted.answer('tools/call', { result: { ...complete, content: [], structuredContent: { many } } });
    const { text, sealed } = await called();
    expect(text).toContain('too large to be read at once and was withheld; the tool may have run');
    expect(text.length).toBeLessThan(2_000);
    expect(sealed).toEqual(['ALLOWED', 'uncertain']);
  });

  it('has an answer with too many bytes withheld', async () => {
    const text = 'x'.repeat(5_000_000);
    scripted.answer('tools/call', { result: { ...complete, content: [{ type: 'text', text }] } });
    const answer = await called();
    expect(answer.text).toContain('too large to be read at once and was withheld; the tool may have run');
    expect(answer.sealed).toEqual(['ALLOWED', 'uncertain']);
  });

  it('has its request for input reported to the caller, and the call is not repeated', async () => {
    const before = scripted.methods.length;
    const asks = { resultType: 'input_required', inputRequests: {}, requestState: 'x' };
    scripted.answer('tools/call', { result: asks });
    const { text, sealed } = await called();
    expect(text).toContain('asked for more input instead of answering');
    expect(sealed).toEqual(['ALLOWED', 'uncertain']);
    expect(scripted.methods.slice(before).filter((method) => method === 'tools/call')).toHaveLength(1);
  });

  it('has a large answer over stdio withheld', async () => {
    const { text, sealed } = await called('flood.act');
    expect(text).toContain('too large to be read at once');
    expect(sealed).toEqual(['ALLOWED', 'uncertain']);
  });

  it('is disconnected over stdio before a line with too many values is parsed, and works after its restart', async () => {
    const { text, sealed } = await called('flood.act');
    expect(sealed).toEqual(['ALLOWED', 'uncertain']);
    expect(text).not.toContain('too large to be read at once');
    await untilReachable(async () => (await called('flood.act')).sealed.includes('uncertain'));
  });

  it('may send a long text that has few values', async () => {
    const commas = ',{['.repeat(messageValuesMax);
    scripted.answer('tools/call', { result: { ...complete, content: [{ type: 'text', text: commas }] } });
    const { text, sealed } = await called();
    expect(text).toContain(commas);
    expect(sealed).toEqual(['ALLOWED', 'completed']);
  });

  it('has its tools denied while its list is too long to compare with the pins', async () => {
    scripted.answer('tools/call', { result: { ...complete, content: [] } });
    const tools = [listed, ...Array.from({ length: 1_000 }, (_, nth) => ({ ...listed, name: `t${nth}` }))];
    scripted.answer('tools/list', { result: { ...complete, tools } });
    expect((await called()).sealed).toEqual(['REGISTRY_UNAVAILABLE']);
    scripted.answer('tools/list', { result: { ...complete, tools: tools.slice(0, 3) } });
    expect((await called()).sealed).toEqual(['ALLOWED', 'completed']);
  });
});

describe('the value limit of a message body', () => {
  const taken = async (texts: string[], framing: 'whole' | 'events' | 'lines' = 'whole') => {
    const chunks = (async function* () {
      for (const text of texts) yield Promise.resolve(Buffer.from(text));
    })();
    let seen = '';
    for await (const chunk of withFewValues(chunks, { valuesMax: 3, framing })) seen += chunk.toString();
    return seen;
  };

  it('counts values outside strings, wherever the chunks are cut', async () => {
    for (const few of [
      ['{"a":[1,', '2]}'],
      ['["\\', '",,,,,{{{{"]'],
      ['["\\\\",', '"a,b,c,d"]'],
    ])
      expect(await taken(few)).toBe(few.join(''));
    for (const many of [['[{},', '{}]'], ['["\\\\",{},1]'], ['{"a":[\n\n[1', ',2]]}']])
      await expect(taken(many)).rejects.toThrow('more than 3 values');
  });

  it('applies to each line over stdio', async () => {
    expect(await taken(['[1,2]\n[1,', '2]\n'], 'lines')).toBe('[1,2]\n[1,2]\n');
    await expect(taken(['[1]\n[1,', '2,3,4]\n'], 'lines')).rejects.toThrow('more than 3 values');
  });

  it('applies to each event of a stream, and a quote in another line hides no values', async () => {
    const event = 'data: {"a":[1,2]}\n\n';
    expect(await taken([event, event, event], 'events')).toBe(event.repeat(3));
    await expect(taken([': "\n', 'data: {"a":[1,2,3]}\n\n'], 'events')).rejects.toThrow('more than 3 values');
  });
});

describe('a message over any transport', () => {
  const received = (message: object) => {
    const transport = withBoundedMessages({} as Transport); // only its message handler is used
    const seen: unknown[] = [];
    transport.onmessage = (passed) => void seen.push(passed);
    transport.onmessage(message as never); // JSON-RPC with the members that are read here
    return seen;
  };
  const many = Array.from({ length: messageValuesMax }, () => 0);
  const nested = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) as unknown;

  it('is passed on unchanged when it has few values', () => {
    const message = { jsonrpc: '2.0', id: 1, result: { nested } };
    expect(received(message)[0]).toBe(message);
  });

  it('becomes an error for its request when it has too many values, or is dropped if it is a notification', () => {
    expect(received({ jsonrpc: '2.0', id: 7, result: { many } })).toMatchObject([
      { jsonrpc: '2.0', id: 7, error: { code: excessCode } },
    ]);
    expect(received({ jsonrpc: '2.0', method: 'notifications/message', params: { many } })).toEqual([]);
  });
});
