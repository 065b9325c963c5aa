import { enrolIdentityKey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { enrolKey } from '../../controls/identities/change-identity-keys.ts';
import { getIdentity, showIdentity } from '../../store/identity-store.ts';

export const enrolIdentityKeyRoute = (kernel: Context) =>
  handleTenant(enrolIdentityKey)(async ({ params: { principal }, body, caller }) => {
    const agent = { tenant: caller.tenant, kind: 'agent', principal } as const;
    // The agent is checked before the proof, so that an unknown agent always gives NOT_FOUND.
    await getIdentity(kernel.reader, agent);
    await enrolKey(kernel, { tenant: caller.tenant, principal, by: caller }, body.proof);
    return await showIdentity(kernel.reader, agent);
  });
