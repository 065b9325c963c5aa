import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { addServer, approveServerAt, mcpClient, openPolicy } from './_added-servers.ts';
import { newSession } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { startScriptedMcp, type ScriptedMcp } from './_scripted-mcp.ts';
import { receiptsOf } from './_upstreams.ts';

let test: TestKernel;
let scripted: ScriptedMcp;
let nth = 0;
let serverId: string;
beforeAll(async () => {
  test = await startTestKernel({ env: { GOV_MCP_PRIVATE: '1', GOV_MCP_TIMEOUT: '60s' } });
  await test.activate('*', openPolicy);
});
beforeEach(async () => {
  scripted = await startScriptedMcp();
  await added();
});
afterEach(() => scripted.close());
afterAll(() => test.close());

async function added(limits: object = {}): Promise<void> {
  serverId = `hostile-${(nth += 1)}`;
  const mcpServers = { [serverId]: { type: 'http', url: scripted.url, limits } };
  await addServer(test.as('acme', 'operator-1'), { mcpServers });
  await approveServerAt(test.kernel, { serverId });
}

/** Calls the server, and returns the result with the sealed outcome. Another call is decided in the meantime. */
async function called() {
  const session = newSession();
  const client = await mcpClient(test.kernel, 'acme', { 'x-gov-session-id': session });
  const calling = client.callTool({ name: `${serverId}.act`, arguments: {} });
  const body = { action: 'tool.call', tool: 'lookup', session_id: 'others', args: {}, context: {}, mode: 'enforce' };
  expect((await test.as('acme', 'agent').evaluate({ body: body as never })).body.verdict).toBe('ALLOW');
  const result = await calling;
  await client.close();
  const outcomes = (await receiptsOf(test, session)).flatMap(({ outcome }) => outcome ?? []);
  return { text: JSON.stringify(result.content), outcomes };
}

const done = '{"resultType":"complete","content":[{"type":"text","text":"done"}]}';
const otherId = (message: string) => message.replace(/"id":\d+/, '"id":987654321');
const event = (message: string) => `event: message\ndata: ${message}\n\n`;

it.each([
  ['one message', false, otherId],
  ['an event stream', true, (message: string) => event(otherId(message))],
])('an answer with a wrong id in %s is not used for any call', async (_what, isStreamed, bodyOf) => {
  await added({ call_timeout_ms: 2_000 });
  scripted.answerOnce('tools/call', { resultText: done, isStreamed, bodyOf });
  const { text, outcomes } = await called();
  expect(outcomes).toEqual(['uncertain']);
  expect(text).not.toContain('done');
  expect((await called()).outcomes).toEqual(['completed']);
});

it('an answer of 100 MB is cut off and withheld', async () => {
  const filled = done.replace('done', 'x'.repeat(100 * 1_048_576));
  scripted.answerOnce('tools/call', { resultText: filled });
  const { text, outcomes } = await called();
  expect(outcomes).toEqual(['uncertain']);
  expect(text.length).toBeLessThan(1_000);
  expect((await called()).outcomes).toEqual(['completed']);
});

it('a flood of notifications before an answer is dropped, and the answer is returned', async () => {
  const flood = ['tools/list_changed', 'message', 'progress', 'resources/updated', 'of-no-protocol'].map((method) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: `notifications/${method}`,
      params: { level: 'info', data: 'x', uri: 'x' },
    }),
  );
  const bodyOf = (message: string) => flood.map(event).join('').repeat(1_000) + event(message);
  scripted.answerOnce('tools/call', { resultText: done, isStreamed: true, bodyOf });
  const lists = scripted.methods.filter((method) => method === 'tools/list').length;
  const { text, outcomes } = await called();
  expect([text.includes('done'), outcomes]).toEqual([true, ['completed']]);
  // The kernel does not list tools again for each notification of a changed list.
  expect(scripted.methods.filter((method) => method === 'tools/list').length - lists).toBeLessThanOrEqual(2);
});

it('a server with empty answers receives no call twice', async () => {
  scripted.answer('tools/call', { resultText: done, bodyOf: () => '' });
  const outcomes: string[] = [];
  for (let n = 0; n < 7; n += 1) outcomes.push(...(await called()).outcomes);
  expect(outcomes).toHaveLength(7);
  expect(outcomes.filter((outcome) => outcome === 'completed')).toEqual([]);
  expect(scripted.methods.filter((method) => method === 'tools/call').length).toBeLessThanOrEqual(7);
});
