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
  const body = { tool, args, session_id: session } as never; // a test writes plain names
  const { result } = (await test.as('acme').executeMcp({ body })).body;
  const receipts = await receiptsOf(test, session);
  return { text: JSON.stringify(result ?? {}), sealed: receipts.map((each) => each.outcome ?? each.reason_code) };
}

const asked = (method: string) => scripted.methods.filter((each) => each === method).length;

describe('an MCP server that was restarted', () => {
  it.each([401, 404])(
    'and refuses the session that we had (HTTP %i) is connected to again, and gets the call once more',
    async (status) => {
      const [calls, handshakes] = [asked('tools/call'), asked('server/discover')];
      scripted.answerOnce('tools/call', { status });
      expect(await called('scripted.act')).toMatchObject({ sealed: ['ALLOWED', 'completed'] });
      expect([asked('tools/call') - calls, asked('server/discover') - handshakes]).toEqual([2, 1]);
    },
  );

  it('and refuses the list as well is connected to again', async () => {
    scripted.answerOnce('tools/list', { status: 404 });
    expect(await called('scripted.act')).toMatchObject({ sealed: ['ALLOWED', 'completed'] });
  });

  it('and refuses every call was sent nothing, and is asked no third time', async () => {
    const calls = asked('tools/call');
    scripted.answerOnce('tools/call', { status: 404 }, 2);
    const { text, sealed } = await called('scripted.act');
    expect([text, sealed]).toEqual([expect.stringContaining('was not executed'), ['ALLOWED', 'failed']]);
    expect(asked('tools/call') - calls).toBe(2);
  });

  // A handshake is given up after half a minute, a call of this kernel after two seconds: the test's own time stands between them.
  it('and never shakes hands holds up a call no longer than a call may take', async () => {
    const apart = await startScripted();
    try {
      apart.scripted.answerOnce('tools/call', { status: 404 });
      apart.scripted.answer('server/discover', { error: { code: -32_601, message: 'no such method' } });
      apart.scripted.answer('initialize', null);
      const { text, sealed } = await called('scripted.act', {}, apart.upstreams);
      expect([text, sealed]).toEqual([expect.stringContaining('was not executed'), ['ALLOWED', 'failed']]);
    } finally {
      await apart.scripted.close(); // ends the handshake, for which a kernel that stops would wait
      await apart.upstreams.close();
    }
  }, 25_000);

  it('is found at its port again, and a call without a listener was not sent', async () => {
    let desk = await startNoteServer();
    // Lists are kept, or the missing list would be the reason of a refusal.
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
      await untilReachable(async () => (await write()).sealed.at(-1) === 'completed', 60_000);
      expect(desk.calls).toHaveLength(1);
    } finally {
      await apart.close();
      await desk.close();
    }
  });
});
