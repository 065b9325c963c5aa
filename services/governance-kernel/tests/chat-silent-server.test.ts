import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newSession } from './_caller.ts';
import { Listings } from '../src/doors/mcp/listings.ts';
import { startScriptedMcp, type ScriptedMcp } from './_scripted-mcp.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

let scripted: ScriptedMcp;
let upstreams: Upstreams;
beforeAll(async () => {
  scripted = await startScriptedMcp();
  const server = {
    server_id: 'scripted',
    trust_annotations: true,
    transport: 'http',
    url: scripted.url,
    tools: { act: { effect_level: 'E1' } },
  };
  upstreams = await startUpstreams({ GOV_MCP_TIMEOUT: '5s' }, [server]);
});
afterAll(async () => {
  await upstreams.close();
  await scripted.close();
});

const call = (name: string, index: number) => ({
  id: `c${index}`,
  type: 'function',
  function: { name, arguments: '{}' },
});

describe('a server that hangs while an answer is judged', () => {
  it('is queried once for all choices and calls of the answer, and only its own tools are denied', async () => {
    const names = ['scripted__act', 'notes__hang', 'scripted__act'];
    const message = { role: 'assistant', content: null, tool_calls: names.map(call) };
    const choices = [0, 1, 2, 3].map((index) => ({ index, message, finish_reason: 'tool_calls' }));
    upstreams.model.follow(() => (res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', choices }));
    });
    scripted.answer('tools/list', null);
    const listed = scripted.methods.length;
    const session = newSession();
    await upstreams
      .openai({ headers: { 'X-Gov-Session-ID': session } })
      .chat.completions.create({ model: 'scripted', n: 4, messages: [{ role: 'user', content: 'go' }] });
    expect(scripted.methods.slice(listed).filter((method) => method === 'tools/list')).toHaveLength(1);
    const sealed = await receiptsOf(upstreams.test, session);
    const verdicts = (tool: string) => sealed.filter((receipt) => receipt.tool === tool).map(({ verdict }) => verdict);
    expect(verdicts('scripted.act')).toEqual(Array(8).fill('DENY'));
    expect(verdicts('notes.hang')).toEqual(Array(4).fill('ALLOW'));
  });
});

/** A real wait of this length never ends within a test. */
const beyondTest = 10_000_000;

describe('listings', () => {
  it('wait for all servers together no longer than the limit', async () => {
    let nowMs = 0;
    const listings = new Listings(beyondTest, () => nowMs);
    const slow = {
      tools: async () => {
        nowMs += beyondTest;
        return [];
      },
    };
    const silent = () => ({ tools: () => new Promise<never>(() => undefined) });
    const quick = { tools: () => Promise.resolve([]) };
    expect(await listings.of(slow)).toEqual([]);
    for (let servers = 0; servers < 5; servers += 1) await expect(listings.of(silent())).rejects.toThrow('in time');
    expect(await listings.of(quick)).toEqual([]);
  });

  it('do not count the time between two answers', async () => {
    let nowMs = 0;
    const listings = new Listings(beyondTest, () => nowMs);
    await listings.of({ tools: () => Promise.resolve([]) });
    nowMs += 2 * beyondTest;
    // If no time were left, the timer of the limit would fire before this answer.
    const slow = { tools: () => new Promise<never[]>((resolve) => setTimeout(() => resolve([]), 20)) };
    expect(await listings.of(slow)).toEqual([]);
  });
});
