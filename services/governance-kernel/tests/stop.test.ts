import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { followDirectives } from '@countersign/testkit/scripted-model';
import { askOnce, callAndDie } from './_chat-callers.ts';
import { startKernelProcess, until } from './_kernel-process.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

/** Longer than servers commonly wait for a request in flight. */
const answersAfterMs = 12_000;

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.close());

const asked = () => upstreams.model.requests.length;

describe('a kernel that is told to stop', () => {
  it('waits for the calls that it has sent, with their callers or without, and keeps their answers', async () => {
    upstreams.model.follow((request) => (res) => {
      const { text } = followDirectives(request);
      const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
      const said = JSON.stringify({ id: 'x', choices });
      setTimeout(() => res.writeHead(200, { 'content-type': 'application/json' }).end(said), answersAfterMs);
    });
    const kernel = await startKernelProcess(upstreams.test.env);
    const waiting = askOnce(kernel.url, 'caller-waits');
    await until(() => Promise.resolve(asked() === 1), 60_000);
    await callAndDie(kernel.url, ['caller-went'], 1_000);
    expect(asked()).toBe(2);
    const exited = once(kernel.child, 'exit');
    kernel.child.kill('SIGINT');
    expect(await waiting).toMatchObject({ status: 200 });
    expect(await exited).toEqual([0, null]);
    for (const key of ['caller-waits', 'caller-went']) {
      expect(await receiptsOf(upstreams.test, key)).toMatchObject([{ verdict: 'ALLOW' }, { outcome: 'completed' }]);
      expect(await askOnce(upstreams.test.kernel.url, key)).toMatchObject({ status: 200, isReplayed: true });
    }
    expect(asked()).toBe(2);
  }, 60_000);
});
