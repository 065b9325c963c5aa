import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { untilReachable } from '@countersign/testkit/until';
import { askOnce, callAndDie } from './_chat-callers.ts';
import { startKernelProcess } from './_kernel-process.ts';
import { receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

/** The long timers of the kernel's process pass ten times as fast: a server that cuts what is in flight after 10 s cuts it after one. */
const hurried = encodeURIComponent(`
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (run, ms, ...given) => setTimeout(run, ms >= 10_000 ? ms / 10 : ms, ...given);`);
/** Longer than the 10 s that servers commonly wait for a request in flight. */
const answersAfterMs = 1_500;

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
});
afterAll(() => upstreams.close());

const asked = () => upstreams.model.requests.length;
const accepts = (url: string) =>
  fetch(`${url}/version`).then(
    () => true,
    () => false,
  );

describe('a kernel that is told to stop', () => {
  it('waits for the calls that it has sent, with their callers or without, and keeps their answers', async () => {
    const answers: (() => void)[] = [];
    upstreams.model.follow(() => (res) => {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'late' }, finish_reason: 'stop' }];
      const said = JSON.stringify({ id: 'x', choices });
      answers.push(() => res.writeHead(200, { 'content-type': 'application/json' }).end(said));
    });
    const kernel = await startKernelProcess({
      ...upstreams.test.env,
      GOV_STOP_NOTICE: '0ms',
      NODE_OPTIONS: `--import=data:text/javascript,${hurried}`,
    });
    const waiting = askOnce(kernel.url, 'caller-waits');
    await untilReachable(async () => asked() === 1, 60_000);
    await callAndDie(kernel.url, ['caller-went'], () => untilReachable(async () => asked() === 2, 60_000));
    const exited = once(kernel.child, 'exit');
    kernel.child.kill('SIGINT');
    await untilReachable(async () => !(await accepts(kernel.url)), 60_000);
    await delay(answersAfterMs); // the time that a server which does not wait takes to cut the calls
    for (const answer of answers) answer();
    expect(await waiting).toMatchObject({ status: 200 });
    expect(await exited).toEqual([0, null]);
    for (const key of ['caller-waits', 'caller-went']) {
      expect(await receiptsOf(upstreams.test, key)).toMatchObject([{ verdict: 'ALLOW' }, { outcome: 'completed' }]);
      expect(await askOnce(upstreams.test.kernel.url, key)).toMatchObject({ status: 200, isReplayed: true });
    }
    expect(asked()).toBe(2);
  }, 60_000);
});
