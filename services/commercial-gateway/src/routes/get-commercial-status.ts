import { getCommercialStatus } from '@countersign/contracts/commercial-gateway';
import { build, handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';

/** Nothing about organisations: everybody may call it. */
export const getCommercialStatusRoute = ({ database }: Pick<Context, 'database'>) =>
  handlePublic(getCommercialStatus)(async () => {
    await database.ping();
    return { service: 'commercial-gateway' as const, version: build.version, status: 'ok' as const };
  });
