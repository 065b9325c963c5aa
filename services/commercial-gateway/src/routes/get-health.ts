import { getHealth } from '@countersign/contracts/commercial-gateway';
import { answer, build, handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { healthOf } from '../health.ts';

export const getHealthRoute = (context: Pick<Context, 'database' | 'bus'>) =>
  handlePublic(getHealth)(async () => {
    const { status, checks } = await healthOf(context);
    return answer(status === 'unavailable' ? 503 : 200, {
      status,
      service: 'commercial-gateway' as const,
      version: build.version,
      uptime_seconds: Math.floor(process.uptime()),
      checks,
    });
  });
