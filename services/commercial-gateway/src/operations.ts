import type { commercialRoutes } from '@countersign/contracts/routes';
import type { Operations } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { getCommercialStatusRoute } from './routes/get-commercial-status.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';

/** The endpoint of each route of the commercial gateway. */
export const operations: Operations<typeof commercialRoutes, Context> = {
  showFrontPage: showFrontPageRoute,
  getHealth: getHealthRoute,
  getCommercialStatus: getCommercialStatusRoute,
};
