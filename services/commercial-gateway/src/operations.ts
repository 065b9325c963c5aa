import type { commercialRoutes } from '@countersign/contracts/routes';
import type { Operations } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { activateLicenceRoute } from './routes/activate-licence.ts';
import { beginTrialRoute } from './routes/begin-trial.ts';
import { checkEntitlementRoute } from './routes/check-entitlement.ts';
import { getCommercialStatusRoute } from './routes/get-commercial-status.ts';
import { createScimTokenRoute } from './routes/create-scim-token.ts';
import { getEntitlementsRoute } from './routes/get-entitlements.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { getIdentityRoute } from './routes/get-identity.ts';
import { putIdentityRoute } from './routes/put-identity.ts';
import { revokeScimTokenRoute } from './routes/revoke-scim-token.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';

/** The endpoint of each route of the commercial gateway. */
export const operations: Operations<typeof commercialRoutes, Context> = {
  showFrontPage: showFrontPageRoute,
  getHealth: getHealthRoute,
  getCommercialStatus: getCommercialStatusRoute,
  getEntitlements: getEntitlementsRoute,
  checkEntitlements: checkEntitlementRoute,
  activateLicence: activateLicenceRoute,
  beginTrial: beginTrialRoute,
  getIdentity: getIdentityRoute,
  putIdentity: putIdentityRoute,
  createScimToken: createScimTokenRoute,
  revokeScimToken: revokeScimTokenRoute,
};
