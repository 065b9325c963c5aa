import { grantOrgCredit } from '@countersign/contracts/commercial-gateway';
import { billingCaller } from '../../billing-caller.ts';
import type { BillingDeps } from '../../billing-deps.ts';
import type { Context } from '../../context.ts';
import { getOrg } from '../../directory/get-org.ts';
import { handleAdmin } from '../../handle.ts';
import { creditGrantView } from '../../invoicing/credit-grant-view.ts';
import { grantCredit } from '../../invoicing/grant-credit.ts';

export const grantOrgCreditRoute = ({ database, ...deps }: Pick<Context, 'database'> & BillingDeps) =>
  handleAdmin(grantOrgCredit)(async ({ params, body, caller, requestId }) => {
    const { id } = await getOrg({ database }, params.org_id);
    const { amount_minor, expires_at, ...terms } = body;
    const amounts = { amountMinor: BigInt(amount_minor), expiresAt: expires_at === null ? null : new Date(expires_at) };
    return creditGrantView(await grantCredit(deps, { ...terms, ...amounts }, billingCaller(id, caller, requestId)));
  });
