import { defineRoute } from '@countersign/contracts';
import { z } from 'zod';
import { answer } from './answer.ts';
import { handlePublic, type Endpoint } from './endpoint.ts';

/** A probe that takes longer than an orchestrator's own timeout helps nobody. */
const checkTimeoutMs = 1_000;

/** Resolves when the part works, with `none` when it works and there is nothing yet, and rejects when it does not work. */
export type HealthCheck = (signal: AbortSignal) => Promise<unknown>;
type HealthState = 'up' | 'none' | 'down';
type HealthReport = { ready: boolean; checks: Record<string, HealthState> };

/** Runs all checks at once, each for at most `timeoutMs` (default and most 1 s). Never rejects; says what is down, not why. */
export async function runChecks(
  checks: Readonly<Record<string, HealthCheck>>,
  timeoutMs = checkTimeoutMs,
): Promise<HealthReport> {
  const names = Object.keys(checks);
  const states = await Promise.all(
    Object.values(checks).map((check) => stateOf(check, Math.min(timeoutMs, checkTimeoutMs))),
  );
  return {
    ready: !states.includes('down'),
    checks: Object.fromEntries(names.map((name, index) => [name, states[index] ?? 'down'])),
  };
}

async function stateOf(check: HealthCheck, timeoutMs: number): Promise<HealthState> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const tooLate = new Promise<'down'>((resolve) => late.signal.addEventListener('abort', () => resolve('down')));
  try {
    return await Promise.race([check(late.signal).then((said) => (said === 'none' ? 'none' : 'up')), tooLate]);
  } catch {
    return 'down';
  } finally {
    clearTimeout(timer);
  }
}

export const healthRoutes = {
  live: defineRoute({
    operation: 'healthLive',
    summary: 'The process runs. Restart it when this fails.',
    method: 'GET',
    path: '/health/live',
    auth: 'public',
    reply: z.strictObject({ status: z.literal('live') }),
  }),
  ready: defineRoute({
    operation: 'healthReady',
    summary: 'The process can do its work. Send it no traffic while this fails; do not restart it for that.',
    method: 'GET',
    path: '/health/ready',
    auth: 'public',
    alsoStatus: [503],
    reply: z.strictObject({
      status: z.enum(['ready', 'not_ready', 'stopping']),
      checks: z.record(z.string(), z.enum(['up', 'none', 'down'])),
    }),
  }),
};

/** `/health/live` and `/health/ready`. Not ready is not dead: liveness asks nobody. What is only `told` never makes it unready. */
export function healthEndpoints(
  checks: Readonly<Record<string, HealthCheck>>,
  lifecycle: { isStopping(): boolean } = { isStopping: () => false },
  told: Readonly<Record<string, HealthCheck>> = {},
): Endpoint[] {
  const live = handlePublic(healthRoutes.live)(() => ({ status: 'live' }));
  const ready = handlePublic(healthRoutes.ready)(async () => {
    if (lifecycle.isStopping()) return answer(503, { status: 'stopping', checks: {} });
    const [needed, beside] = await Promise.all([runChecks(checks), runChecks(told)]);
    const states = { ...beside.checks, ...needed.checks };
    return needed.ready ? { status: 'ready', checks: states } : answer(503, { status: 'not_ready', checks: states });
  });
  return [live, ready];
}
