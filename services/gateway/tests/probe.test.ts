import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { holdTimers, type HeldTimers } from '@countersign/testkit/held-timers';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import type { Context } from '../src/context.ts';
import { assertGovernanceReady, probeGovernance } from '../src/governance/probe.ts';

const probeMaxMs = 1_000;
let timers: HeldTimers;
beforeEach(() => {
  timers = holdTimers([probeMaxMs]);
});
afterEach(() => timers.release());

/** A kernel that never answers, so that calls end only by their own deadline. */
const hanging = {
  config: { governance: { healthUrl: 'http://kernel.example' } },
  fetchNow: (_url: string, { signal }: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
} as unknown as Context; // the members that a probe reads

verifies('gw.health', 'a probe of a hanging kernel ends after a second', async () => {
  const probing = probeGovernance(hanging);
  await until(() => timers.waitingMs().length > 0);
  expect(timers.waitingMs()).toEqual([probeMaxMs]);
  timers.pass(probeMaxMs);
  expect(await probing).toMatchObject({ state: 'unreachable' });
  expect(timers.waitingMs()).toEqual([]);
});

it('a hanging kernel counts as not ready after a second', async () => {
  const asserting = assertGovernanceReady(hanging).catch((error: unknown) => String(error));
  await until(() => timers.waitingMs().length > 0);
  timers.pass(probeMaxMs);
  expect(await asserting).toContain('did not answer in time');
});
