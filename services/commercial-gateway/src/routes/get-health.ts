import { getHealth } from '@countersign/contracts/commercial-gateway';
import { assertConnected } from '@countersign/messaging';
import { answer, build, handlePublic, runChecks } from '@countersign/service-kit';
import type { Context } from '../context.ts';

export const getHealthRoute = ({ database, bus }: Pick<Context, 'database' | 'bus'>) =>
  handlePublic(getHealth)(async () => {
    const { checks } = await runChecks({ database: () => database.ping(), queue: () => assertConnected(bus) });
    const stateOf = (name: 'database' | 'queue') =>
      checks[name] === 'up' ? ('ok' as const) : ('unreachable' as const);
    const states = { database: stateOf('database'), queue: stateOf('queue') };
    const working = states.queue === 'ok' ? ('ok' as const) : ('degraded' as const);
    const status = states.database === 'ok' ? working : ('unavailable' as const);
    return answer(status === 'unavailable' ? 503 : 200, {
      status,
      service: 'commercial-gateway' as const,
      version: build.version,
      uptime_seconds: Math.floor(process.uptime()),
      checks: states,
    });
  });
