import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { untilReachable } from '@countersign/testkit/until';
import { askOnce, callAndDie } from './_chat-callers.ts';
import { startKernelProcess } from './_kernel-process.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

/**
 * Long timers in the kernel process run ten times as fast. A server that cuts requests after 10 s cuts them after 1 s.
 */
const hurried = encodeURIComponent(`
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (run, ms, ...given) => setTimeout(run, ms >= 10_000 ? ms / 10 : ms, ...given);`);
/** Longer than servers commonly wait for running requests when they stop: 10 s, which is 1 s here. */
const answersAfterMs = 1_500;

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.close());

const requestCount = () => upstreams.model.requests.length;
const accepts = (url: string) =>
  fetch(`${url}/version`).then(
    () => true,
    () => false,
  );

describe('a kernel that receives a stop signal', () => {
  it('waits for sent calls, with or without their callers, and keeps their answers', async () => {
    const answers: (() => void)[] = [];
    upstreams.model.follow(() => (res) => {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'late' }, finish_reason: 'stop' }];
      const text = JSON.stringify({ id: 'x', choices });
      answers.push(() => res.writeHead(200, { 'content-type': 'application/json' }).end(text));
    });
    const kernel = await startKernelProcess({
      ...upstreams.test.env,
      GOV_STOP_NOTICE: '0ms',
      NODE_OPTIONS: `--import=data:text/javascript,${hurried}`,
    });
    const waiting = askOnce(kernel.url, 'caller-waits');
    await untilReachable(async () => requestCount() === 1);
    await callAndDie(kernel.url, ['caller-went'], () => untilReachable(async () => requestCount() === 2));
    const exited = once(kernel.child, 'exit');
    kernel.child.kill('SIGINT');
    await untilReachable(async () => !(await accepts(kernel.url)));
    await delay(answersAfterMs); // a server that does not wait would cut the calls in this time
    for (const answer of answers) answer();
    expect(await waiting).toMatchObject({ status: 200 });
    expect(await exited).toEqual([0, null]);
    for (const key of ['caller-waits', 'caller-went']) {
      expect(await receiptsOf(upstreams.test, key)).toMatchObject([{ verdict: 'ALLOW' }, { outcome: 'completed' }]);
      expect(await askOnce(upstreams.test.kernel.url, key)).toMatchObject({ status: 200, isReplayed: true });
    }
    expect(requestCount()).toBe(2);
  });
});
