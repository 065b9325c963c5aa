import { getHealth, type Reachability } from '@countersign/contracts/gateway';
import { assertConnected } from '@countersign/messaging';
import { build, answer, handlePublic, runChecks } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { probeGovernance } from '../governance/probe.ts';
import { findWorkers, overallStatus, problemsOf } from '../health.ts';

export const getHealthRoute = (context: Context) =>
  handlePublic(getHealth)(async () => {
    const deps = { database: () => context.database.ping(), queue: () => assertConnected(context.bus) };
    const [report, probe] = await Promise.all([runChecks(deps), probeGovernance(context)]);
    const isStored = report.checks['database'] === 'up';
    const workers = isStored ? await findWorkers(context) : ({ state: 'unknown', ageMs: null } as const);
    const checks = {
      database: reachability(report.checks['database']),
      queue: reachability(report.checks['queue']),
      governance: probe.state,
      workers: workers.state,
    };
    const governanceRequired = context.config.failClosed;
    const status = overallStatus(checks, governanceRequired);
    return answer(status === 'unavailable' ? 503 : 200, {
      status,
      service: 'gateway' as const,
      version: build.version,
      uptimeSeconds: Math.floor(process.uptime()),
      checks,
      problems: problemsOf(checks, workers.ageMs),
      governanceRequired,
      governanceLatencyMs: probe.state === 'ok' ? probe.latencyMs : null,
    });
  });

function reachability(state: string | undefined): Reachability {
  return state === 'up' ? 'ok' : 'unreachable';
}
