import { putOrgSettings } from '@countersign/contracts/commercial-gateway';
import * as admin from '../../admin/put-org-settings.ts';
import { billingCaller } from '../../billing-caller.ts';
import type { BillingDeps } from '../../billing-deps.ts';
import type { Context } from '../../context.ts';
import { getOrg } from '../../directory/get-org.ts';
import { handleAdmin } from '../../handle.ts';

export const putOrgSettingsRoute = ({ database, ...deps }: Pick<Context, 'database'> & BillingDeps) =>
  handleAdmin(putOrgSettings)(async ({ params, body, caller, requestId }) => {
    const { id } = await getOrg({ database }, params.org_id);
    return await admin.putOrgSettings(deps, body, billingCaller(id, caller, requestId));
  });
