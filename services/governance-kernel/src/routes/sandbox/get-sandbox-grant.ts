import { getSandboxGrant } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { grantView } from '../../controls/sandbox/grant-view.ts';
import { getGrant } from '../../store/sandbox-grant-store.ts';

export const getSandboxGrantRoute = ({ reader, clock }: Context) =>
  handleTenant(getSandboxGrant)(async ({ params, caller: { tenant } }) =>
    grantView(await getGrant(reader, tenant, params.grant_id), clock().getTime()),
  );
