import { getHealth } from '@countersign/contracts/control-plane';
import { assertConnected } from '@countersign/messaging';
import { build, answer, handlePublic, runChecks } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { overallStatus } from '../health.ts';
import { assertGateway } from '../siblings/assert-gateway.ts';

export const getHealthRoute = (context: Context) =>
  handlePublic(getHealth)(async () => {
    const report = await runChecks({
      database: () => context.database.ping(),
      queue: () => assertConnected(context.bus),
      gateway: () => assertGateway(context),
    });
    const reached = (name: 'database' | 'queue' | 'gateway') =>
      report.checks[name] === 'up' ? ('ok' as const) : ('unreachable' as const);
    const checks = { database: reached('database'), queue: reached('queue'), gateway: reached('gateway') };
    const status = overallStatus(checks);
    return answer(status === 'unavailable' ? 503 : 200, {
      status,
      service: 'control-plane' as const,
      version: build.version,
      uptime_seconds: Math.floor(process.uptime()),
      checks,
    });
  });
