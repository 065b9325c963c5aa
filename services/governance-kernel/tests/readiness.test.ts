import { Readiness } from '@countersign/contracts';
import { afterEach, expect, it } from '@jest/globals';
import { createInProcessBus } from '@countersign/messaging';
import { createLifecycle, createLogger, runChecks } from '@countersign/service-kit';
import { toldChecks } from '../src/health.ts';
import { movableClock } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { seal } from './_seal.ts';

const time = movableClock('2026-11-21T10:00:00.000Z');
const hourMs = 3_600_000;
let test: TestKernel | null = null;
afterEach(async () => {
  await test?.close();
  test = null;
});

async function readiness({ kernel }: TestKernel) {
  const response = await fetch(`${kernel.healthUrl}/health/ready`);
  const { checks } = Readiness.parse(await response.json());
  return { status: response.status, ...checks };
}

it('a kernel without a policy is ready and reports the policy as none', async () => {
  test = await startTestKernel();
  expect(await readiness(test)).toEqual({
    status: 200,
    clock: 'up',
    database: 'up',
    conformance: 'none',
    native_signatures: 'up',
    dead_letters: 'none',
    gates: 'up',
    policy: 'none',
    queue: 'up',
    signer: 'up',
    witnesses: 'none',
    workers: 'up',
  });
});

it('a kernel is not ready when no policy is fresh, until one is confirmed; the demo policy does not count', async () => {
  test = await startTestKernel({ overrides: { clock: time.clock }, env: { GOV_POLICY_MAX_AGE: '1h' } });
  await test.activate('*', starterPolicy);
  await test.activate('globex', starterPolicy);
  time.advance(hourMs);
  expect(await readiness(test)).toMatchObject({ status: 200, policy: 'up' });
  time.advance(1);
  await test.activate('demo', starterPolicy, 7);
  expect(await readiness(test)).toMatchObject({ status: 503, policy: 'down', database: 'up' });
  await test.activate('globex', starterPolicy);
  expect(await readiness(test)).toMatchObject({ status: 200, policy: 'up' });
});

it('an unavailable queue is reported but does not affect readiness, because events wait in the outbox', async () => {
  const bus = createInProcessBus();
  test = await startTestKernel({ overrides: { bus } });
  await bus.close();
  expect(await readiness(test)).toMatchObject({ status: 200, queue: 'down' });
});

it('workers whose last pass failed are reported', async () => {
  test = await startTestKernel();
  const workers = { check: () => Promise.reject(new Error('The last run of this job failed')) };
  const { checks } = await runChecks(toldChecks(test.kernel.context, workers));
  expect(checks).toEqual({
    queue: 'up',
    dead_letters: 'none',
    workers: 'down',
    conformance: 'none',
    native_signatures: 'up',
    witnesses: 'none',
  });
});

it('a stopping kernel is not ready, but still decides calls during the stop notice', async () => {
  const lifecycle = createLifecycle(createLogger({ service: 'kernel', silent: true }));
  test = await startTestKernel({ env: { GOV_STOP_NOTICE: '7s' }, overrides: { lifecycle } });
  await test.activate('*', starterPolicy);
  expect(lifecycle.noticeMs).toBe(7_000);
  lifecycle.beginStop();
  expect(await readiness(test)).toEqual({ status: 503 });
  expect(await seal(test)).toMatchObject({ verdict: 'ALLOW' });
});
