import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import { createBoundary } from '../src/decision/boundary.ts';
import { newSession } from './_caller.ts';
import { decideAndDie } from './_dispatched.ts';
import { adminKey } from './_kernel.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

let site: Upstreams;
beforeAll(async () => {
  site = await startUpstreams();
  await site.test.activate(
    'searching',
    'format: countersign/policy.v1\nname: open\nversion: "1"\nrules: [{ id: all, effect: allow }]\n',
  );
});
afterAll(() => site.close());

/** The status, the reason and the text of a model call. */
async function ask(more: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${site.test.kernel.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': 'searching',
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: 'go' }], ...more }),
  });
  const text = await response.text();
  return { status: response.status, reason: response.headers.get('x-gov-reason-code'), text };
}

describe('a fence around a tool', () => {
  it('stops a model call that lets the provider run the tool, in any spelling, and no other call', async () => {
    const searching = { tools: [{ type: 'Web_Search' }] };
    expect(await ask(searching)).toMatchObject({ status: 200 });
    await site.test.setFence('tool:*/web_search', 'quarantine');
    expect(await ask(searching)).toMatchObject({ status: 403, reason: 'TOOL_QUARANTINED' });
    expect(await ask({ tool_choice: { type: 'web_search' } })).toMatchObject({ reason: 'TOOL_QUARANTINED' });
    expect(await ask({})).toMatchObject({ status: 200 });
    await site.test.setFence('tool:*/web_search', 'open');
  });

  it('stops a model call with that tool when the call is sent late', async () => {
    let nowMs = 0;
    const { cycle } = site.test.kernel.context;
    const boundary = createBoundary({ ...cycle, settings: { ...cycle.settings, monotonicMs: () => nowMs } });
    const caller = {
      tenant: 'searching',
      principal: 'agent',
      scopes: ['*'],
    };
    const args = { hosted_tools: ['web_search'] };
    const call = { kind: 'model', caller, session: newSession(), model: 'scripted', args, context: {} };
    const decision = await decideAndDie(boundary, call as never); // plain strings instead of branded ones
    nowMs += 500;
    expect(await boundary.maySendLate(decision, caller as never)).toBe(true);
    await site.test.setFence('tool:searching/web_search', 'freeze');
    expect(await boundary.maySendLate(decision, caller as never)).toBe(false);
    await site.test.setFence('tool:searching/web_search', 'open');
    expect(await boundary.maySendLate(decision, caller as never)).toBe(true);
    const block = (version: number, tools: string[]) =>
      site.test.system.putToolBlocks({ params: { tenant: caller.tenant }, body: { version, tools } }); // plain strings instead of branded ones
    await block(1, ['Web_Search']);
    expect(await boundary.maySendLate(decision, caller as never)).toBe(false);
    await block(2, []);
    expect(await boundary.maySendLate(decision, caller as never)).toBe(true);
  });

  it('is not needed to stop a late call for a server that was revoked in the meantime', async () => {
    let nowMs = 0;
    const { cycle } = site.test.kernel.context;
    const boundary = createBoundary({ ...cycle, settings: { ...cycle.settings, monotonicMs: () => nowMs } });
    const caller = { tenant: 'searching', principal: 'agent', scopes: ['*'] };
    const args = { hosted_tools: ['notes.read_note'] };
    const call = { kind: 'model', caller, session: newSession(), model: 'scripted', args, context: {} };
    const decision = await decideAndDie(boundary, call as never); // plain strings instead of branded ones
    nowMs += 500;
    expect(await boundary.maySendLate(decision, caller as never)).toBe(true);
    const state = (to: string) =>
      site.test.pool.query(`UPDATE mcp_servers SET state = $1 WHERE server_id = 'notes'`, [to]);
    await state('revoked');
    expect(await boundary.maySendLate(decision, caller as never)).toBe(false);
    await state('approved');
  });
});

describe('a model call that waits for a connection', () => {
  it('is not sent after a fence was set in the meantime, and its idempotency key can be used again', async () => {
    const atOnceMax = 128;
    const open: ServerResponse[] = [];
    site.model.follow(() => (res) => void open.push(res));
    const running = Array.from({ length: atOnceMax }, () => ask({}));
    await until(() => open.length === atOnceMax);
    const key = { 'idempotency-key': 'waiting', 'x-gov-session-id': 'waiting' };
    const waiting = ask({}, key);
    await until(async () => (await receiptsOf(site.test, 'waiting')).length > 0);
    await site.test.setFence('tenant:searching', 'freeze');
    const { settings } = site.test.kernel.context.cycle;
    const { monotonicMs } = settings;
    settings.monotonicMs = () => monotonicMs() + 500; // the decision seems 500 ms older
    site.model.follow(() => answer);
    for (const res of open) answer(res);
    expect(await waiting).toMatchObject({
      status: 502,
      text: expect.stringContaining('The call was delayed and not sent'),
    });
    await Promise.all(running);
    settings.monotonicMs = monotonicMs;

    await site.test.setFence('tenant:searching', 'open');
    expect(await ask({}, key)).toMatchObject({ status: 200 });
  });
});

function answer(res: ServerResponse): void {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', choices }));
}
