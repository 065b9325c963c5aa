import { createSandboxGrant } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { createGrant } from '../../controls/sandbox/create-grant.ts';
import { grantView } from '../../controls/sandbox/grant-view.ts';

/** Only the operator may create grants, since a path of this host may contain data of other tenants. */
export const createSandboxGrantRoute = (kernel: Context) =>
  handleTenant(createSandboxGrant)(async ({ body: { subject, expires_in_seconds: seconds, ...terms }, caller }) => {
    const { tenant, principal: by } = caller;
    const row = await createGrant(kernel, { tenant, by, subject, terms, expiresInMs: seconds * 1_000 });
    await kernel.registryDesk.servers.reload(tenant);
    return grantView(row, kernel.clock().getTime());
  });
