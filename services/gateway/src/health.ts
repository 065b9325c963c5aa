import type { HealthChecks, HealthProblem } from '@countersign/contracts/gateway';
import { assertConnected, assertNoDeadLetters } from '@countersign/messaging';
import type { HealthCheck, ProbeChecks } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { heartbeatAgeMs } from './store/worker-heartbeats.ts';
import { assertGovernanceReady, probeGovernance } from './governance/probe.ts';

/**
 * The gateway is down without the database, or without a mandatory kernel. Without the queue or workers it accepts
 * work, which waits. Votes, stops and reads continue, so load balancers must keep the gateway then.
 */
export function overallStatus(checks: HealthChecks, governanceRequired: boolean): 'ok' | 'degraded' | 'unavailable' {
  if (checks.database !== 'ok') return 'unavailable';
  if (governanceRequired && checks.governance !== 'ok') return 'unavailable';
  const isWhole = checks.queue === 'ok' && checks.governance !== 'unreachable' && checks.workers !== 'absent';
  return isWhole ? 'ok' : 'degraded';
}

/** Twelve passes of a worker. A worker that is only busy or slow has reported by then. */
const heartbeatAgeMaxMs = 60_000;

type WorkersSeen = { state: HealthChecks['workers']; ageMs: number | null };

/** Whether any gateway of this database takes runs now. `unknown` while the database does not answer. */
export async function findWorkers({ database }: Pick<Context, 'database'>): Promise<WorkersSeen> {
  try {
    const ageMs = await database.transaction(heartbeatAgeMs);
    return { state: ageMs !== null && ageMs <= heartbeatAgeMaxMs ? 'ok' : 'absent', ageMs };
  } catch {
    return { state: 'unknown', ageMs: null };
  }
}

async function assertWorkers(context: Pick<Context, 'database'>): Promise<void> {
  const { state } = await findWorkers(context);
  if (state !== 'ok') throw new Error('No gateway worker accepts runs. Start one');
}

/** A sentence for each check that needs an operator. */
export function problemsOf(checks: HealthChecks, workerAgeMs: number | null): HealthProblem[] {
  const { database, queue, governance, workers } = checks;
  const problems: HealthProblem[] = [];
  if (database !== 'ok')
    problems.push({ check: 'database', message: 'The database does not answer. Requests fail until it does.' });
  if (queue !== 'ok')
    problems.push({ check: 'queue', message: 'The message queue does not answer. Runs are accepted and wait.' });
  if (governance === 'unreachable')
    problems.push({ check: 'governance', message: 'The governance kernel does not answer. Runs fail until it does.' });
  if (workers === 'absent') problems.push({ check: 'workers', message: absentWorkers(workerAgeMs) });
  return problems;
}

function absentWorkers(ageMs: number | null): string {
  const since =
    ageMs === null
      ? 'no worker has ever reported'
      : `the last worker reported ${Math.round(ageMs / 1_000)} seconds ago`;
  return `No gateway worker accepts runs: ${since}. Runs are accepted and wait. Start a gateway that has run workers, or check its clock and its queue.`;
}

/**
 * The checks that must pass before this gateway gets traffic. The queue is not checked, because work is accepted
 * without it. With a wrong clock, sessions and approvals end too early or too late.
 */
export function readinessChecks(context: Context): ProbeChecks {
  const needed = { database: () => context.database.ping(), clock: context.clockGuard.check };
  if (!context.config.failClosed) return needed;
  return {
    ...needed,
    governance: async () => {
      if ((await probeGovernance(context)).state !== 'ok') throw new Error('The kernel does not answer.');
    },
  };
}

/**
 * The checks that are only reported. With a live kernel that cannot decide, such as one without a fresh policy, other
 * work continues.
 */
export function toldChecks(context: Context, workers: { check: HealthCheck }): ProbeChecks {
  const { bus } = context;
  const deadLetters = () => assertNoDeadLetters(bus);
  return {
    queue: () => assertConnected(bus),
    dead_letters: deadLetters,
    kernel: () => assertGovernanceReady(context),
    workers: workers.check,
    orchestrator: () => assertWorkers(context),
  };
}
