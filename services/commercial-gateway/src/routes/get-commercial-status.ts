import { getCommercialStatus } from '@countersign/contracts/commercial-gateway';
import { build, handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';

/** This route is public, so it returns nothing about organisations. */
export const getCommercialStatusRoute = ({ database }: Pick<Context, 'database'>) =>
  handlePublic(getCommercialStatus)(async () => {
    await database.ping();
    return { service: 'commercial-gateway' as const, version: build.version, status: 'ok' as const };
  });
