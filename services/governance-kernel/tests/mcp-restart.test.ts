import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNoteServer } from '@countersign/testkit/mcp-server';
import { untilReachable } from '@countersign/testkit/until';
import { newSession } from './_caller.ts';
import type { ScriptedMcp } from './_scripted-mcp.ts';
import { receiptsOf, startScripted, startUpstreams, type Upstreams } from './_upstreams.ts';

let scripted: ScriptedMcp;
let upstreams: Upstreams;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ scripted, upstreams, close } = await startScripted());
});
afterAll(() => close());

async function called(tool: string, args: object = {}, { test } = upstreams) {
  const session = newSession();
  const body = { tool, args, session_id: session } as never; // unbranded strings
  const { result } = (await test.as('acme').executeMcp({ body })).body;
  const receipts = await receiptsOf(test, session);
  return { text: JSON.stringify(result ?? {}), sealed: receipts.map((each) => each.outcome ?? each.reason_code) };
}

const requestCount = (method: string) => scripted.methods.filter((each) => each === method).length;

describe('a restarted MCP server', () => {
  it.each([401, 404])(
    'that rejects the old session (HTTP %i) is reconnected and receives the call again',
    async (status) => {
      const [calls, handshakes] = [requestCount('tools/call'), requestCount('server/discover')];
      scripted.answerOnce('tools/call', { status });
      expect(await called('scripted.act')).toMatchObject({ sealed: ['ALLOWED', 'completed'] });
      expect([requestCount('tools/call') - calls, requestCount('server/discover') - handshakes]).toEqual([2, 1]);
    },
  );

  it('that rejects the list request is reconnected', async () => {
    scripted.answerOnce('tools/list', { status: 404 });
    expect(await called('scripted.act')).toMatchObject({ sealed: ['ALLOWED', 'completed'] });
  });

  it('that rejects every call is retried once, and the call counts as not executed', async () => {
    const calls = requestCount('tools/call');
    scripted.answerOnce('tools/call', { status: 404 }, 2);
    const { text, sealed } = await called('scripted.act');
    expect([text, sealed]).toEqual([expect.stringContaining('was not executed'), ['ALLOWED', 'failed']]);
    expect(requestCount('tools/call') - calls).toBe(2);
  });

  // A handshake times out after 30 seconds, and a call of this kernel after ten. The timeout of this test lies between
  // them.
  it('that never completes a handshake delays a call no longer than the call timeout', async () => {
    const apart = await startScripted();
    try {
      apart.scripted.answerOnce('tools/call', { status: 404 });
      apart.scripted.answer('server/discover', { error: { code: -32_601, message: 'no such method' } });
      apart.scripted.answer('initialize', null);
      const { text, sealed } = await called('scripted.act', {}, apart.upstreams);
      expect([text, sealed]).toEqual([expect.stringContaining('was not executed'), ['ALLOWED', 'failed']]);
    } finally {
      await apart.scripted.close(); // ends the handshake, which would delay the stop of the kernel
      await apart.upstreams.close();
    }
  });

  it('is reconnected at its port, and a call while it was down counts as not executed', async () => {
    let desk = await startNoteServer();
    // The kernel caches the tool list here. Otherwise it would refuse the call because the stopped server lists no
    // tools.
    const apart = await startUpstreams({ GOV_MCP_LIST_MAX_AGE: '1h' }, [
      { server_id: 'desk', transport: 'http', trust_annotations: true, url: desk.url },
    ]);
    const write = () => called('desk.write_note', { id: 'a', text: 'x' }, apart);
    try {
      expect((await write()).sealed).toEqual(['ALLOWED', 'completed']);
      await desk.close();
      const { text, sealed } = await write();
      expect([text, sealed]).toEqual([expect.stringContaining('was not executed'), ['ALLOWED', 'failed']]);
      desk = await startNoteServer({ port: Number(new URL(desk.url).port) });
      await untilReachable(async () => (await write()).sealed.at(-1) === 'completed');
      expect(desk.calls).toHaveLength(1);
    } finally {
      await apart.close();
      await desk.close();
    }
  });
});
