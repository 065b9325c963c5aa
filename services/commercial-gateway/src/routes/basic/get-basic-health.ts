import { getBasicHealth } from '@countersign/contracts/commercial-gateway';
import { answer, build, handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { healthOf } from '../../health.ts';

export const getBasicHealthRoute = (context: Pick<Context, 'database' | 'bus'>) =>
  handlePublic(getBasicHealth)(async () => {
    const { status } = await healthOf(context);
    const body = { status, service: 'commercial-gateway' as const, version: build.version };
    return answer(status === 'unavailable' ? 503 : 200, body);
  });
