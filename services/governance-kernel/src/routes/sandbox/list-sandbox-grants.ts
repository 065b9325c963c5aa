import { listSandboxGrants } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { grantView } from '../../controls/sandbox/grant-view.ts';
import { listGrants } from '../../store/sandbox-grant-store.ts';

export const listSandboxGrantsRoute = ({ reader, clock }: Context) =>
  handleTenant(listSandboxGrants)(async ({ query: { tenant_id: _tenant, ...page }, caller: { tenant } }) => {
    const nowMs = clock().getTime();
    return await listGrants(reader, tenant, { page, item: (row) => grantView(row, nowMs) });
  });
