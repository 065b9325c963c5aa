import { getLiveness, getReadiness, type ProbeName, type ProbeState } from '@countersign/contracts';
import { answer } from './answer.ts';
import { handlePublic, type Endpoint } from './endpoint.ts';

/** A probe that takes longer than an orchestrator's own timeout is useless. */
const checkTimeoutMs = 1_000;

/** Resolves when the part works, with `none` when it works and is still empty. Rejects when it does not work. */
export type HealthCheck = (signal: AbortSignal) => Promise<unknown>;
/** The checks of a service, by their name in its contract. */
export type ProbeChecks = Readonly<Partial<Record<ProbeName, HealthCheck>>>;
type HealthReport = { ready: boolean; checks: Partial<Record<ProbeName, ProbeState>> };

/**
 * Runs all checks at once, each for at most `timeoutMs` (default and maximum 1 s). Never rejects. Reports what is
 * down, not why.
 */
export async function runChecks(checks: ProbeChecks, timeoutMs = checkTimeoutMs): Promise<HealthReport> {
  const states = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const state = await stateOf(check, Math.min(timeoutMs, checkTimeoutMs));
      return [name, state] as const;
    }),
  );
  const latest: Partial<Record<string, ProbeState>> = Object.fromEntries(states);
  return { ready: !Object.values(latest).includes('down'), checks: latest };
}

async function stateOf(check: HealthCheck, timeoutMs: number): Promise<ProbeState> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const tooLate = new Promise<'down'>((resolve) => late.signal.addEventListener('abort', () => resolve('down')));
  try {
    return await Promise.race([check(late.signal).then((answer) => (answer === 'none' ? 'none' : 'up')), tooLate]);
  } catch {
    return 'down';
  } finally {
    clearTimeout(timer);
  }
}

/**
 * `/health/live` and `/health/ready`. Liveness runs no checks, since a service that is not ready need not be restarted.
 * `extraChecks` are only reported, and never make the service unready.
 */
export function healthEndpoints(
  checks: ProbeChecks,
  lifecycle: { isStopping(): boolean } = { isStopping: () => false },
  extraChecks: ProbeChecks = {},
): Endpoint[] {
  const live = handlePublic(getLiveness)(() => ({ status: 'live' }));
  const ready = handlePublic(getReadiness)(async () => {
    if (lifecycle.isStopping()) return answer(503, { status: 'stopping', checks: {} });
    const [needed, beside] = await Promise.all([runChecks(checks), runChecks(extraChecks)]);
    const states = { ...beside.checks, ...needed.checks };
    return needed.ready ? { status: 'ready', checks: states } : answer(503, { status: 'not_ready', checks: states });
  });
  return [live, ready];
}
