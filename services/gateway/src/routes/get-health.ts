import { getHealth, type Reachability } from '@countersign/contracts/gateway';
import { answer, handlePublic, runChecks } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { probeGovernance } from '../governance/probe.ts';
import { healthChecks, overallStatus } from '../health.ts';
import { version } from '../version.ts';

export const getHealthRoute = (context: Context) =>
  handlePublic(getHealth)(async () => {
    const { database, queue } = healthChecks(context);
    const [report, probe] = await Promise.all([runChecks({ database, queue }), probeGovernance(context)]);
    const checks = {
      database: reachability(report.checks['database']),
      queue: reachability(report.checks['queue']),
      governance: probe.state,
    };
    const governanceRequired = context.config.failClosed;
    const status = overallStatus(checks, governanceRequired);
    return answer(status === 'unavailable' ? 503 : 200, {
      status,
      service: 'gateway' as const,
      version,
      uptimeSeconds: Math.floor(process.uptime()),
      checks,
      governanceRequired,
      governanceLatencyMs: probe.state === 'ok' ? probe.latencyMs : null,
    });
  });

function reachability(state: string | undefined): Reachability {
  return state === 'up' ? 'ok' : 'unreachable';
}
