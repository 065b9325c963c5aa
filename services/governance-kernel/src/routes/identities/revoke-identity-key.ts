import { revokeIdentityKey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { revokeKeyOfAgent } from '../../controls/identities/change-identity-keys.ts';
import { showIdentity } from '../../store/identity-store.ts';

export const revokeIdentityKeyRoute = (kernel: Context) =>
  handleTenant(revokeIdentityKey)(async ({ params: { principal, kid }, caller }) => {
    const { tenant } = caller;
    await revokeKeyOfAgent(kernel, { tenant, principal, by: caller }, kid);
    return await showIdentity(kernel.reader, { tenant, kind: 'agent', principal });
  });
