import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newSession } from './_caller.ts';
import { startScriptedMcp, type ScriptedMcp } from './_scripted-mcp.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

const outputSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
let scripted: ScriptedMcp;
let upstreams: Upstreams;
beforeAll(async () => {
  scripted = await startScriptedMcp({ outputSchema });
  const server = {
    server_id: 'scripted',
    transport: 'http',
    url: `${scripted.url}?api_key=hunter2-of-the-address`,
    headers: { 'x-key': 'hunter2-of-the-header' },
    tools: { act: { effect_level: 'E1' } },
  };
  const process = { transport: 'stdio', command: '/bin/false', args: ['--key=hunter2-of-the-argument'] };
  upstreams = await startUpstreams({}, [
    server,
    { server_id: 'process', ...process, env: { KEY: 'hunter2-of-the-child' } },
  ]);
});
afterAll(async () => {
  await upstreams.close();
  await scripted.close();
});

/** Executes the tool. Returns how its call was sealed, and how often it was sent. */
async function act() {
  const session = newSession();
  const before = scripted.methods.length;
  const body = { tool: 'scripted.act', args: {}, session_id: session } as never; // unbranded strings
  const { body: reply } = await upstreams.test.as('acme').executeMcp({ body });
  const [decision, outcome] = await receiptsOf(upstreams.test, session);
  const sent = scripted.methods.slice(before).filter((method) => method === 'tools/call').length;
  return { verdict: decision?.verdict, outcome: outcome?.outcome, sent, text: JSON.stringify(reply.result) };
}

describe('an upstream MCP server that breaks its own contract', () => {
  it('has its call sealed as completed when the result does not match the output schema', async () => {
    const result = { resultType: 'complete', content: [{ type: 'text', text: 'paid, reference 4711' }] };
    for (const structured of [{}, { structuredContent: { ok: 'yes' } }]) {
      scripted.answer('tools/call', { result: { ...result, ...structured } });
      const seen = await act();
      expect(seen).toMatchObject({ verdict: 'ALLOW', outcome: 'completed', sent: 1 });
      expect(seen.text).toContain('reference 4711');
    }
  });

  it('is called once per decision, even when it rejects the headers of the call', async () => {
    scripted.answer('tools/call', { error: { code: -32_020, message: 'header mismatch' } });
    expect(await act()).toMatchObject({ verdict: 'ALLOW', outcome: 'failed', sent: 1 });
  });
});

describe('the declaration of an MCP server', () => {
  it('is stored without the secrets that it may contain', async () => {
    const { rows } = await upstreams.test.pool.query('SELECT * FROM mcp_servers');
    expect(rows.map((row: { server_id: string }) => row.server_id).sort()).toEqual(['notes', 'process', 'scripted']);
    expect(JSON.stringify(rows)).not.toContain('hunter2');
    expect(JSON.stringify(rows)).not.toContain('declared-for-notes');
    expect(await act()).toMatchObject({ verdict: 'ALLOW', sent: 1 });
  });
});
