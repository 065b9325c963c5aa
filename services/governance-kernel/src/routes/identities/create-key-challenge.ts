import { Instant } from '@countersign/contracts';
import { createKeyChallenge } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { requireActive } from '../../controls/identities/change-identities.ts';
import { getIdentity } from '../../store/identity-store.ts';

export const createKeyChallengeRoute = ({ reader, keyChallenges, config }: Context) =>
  handleTenant(createKeyChallenge)(async ({ params: { principal }, caller: { tenant } }) => {
    const identity = await getIdentity(reader, { tenant, kind: 'agent', principal });
    requireActive(identity);
    const { nonce, expiresAtMs } = keyChallenges.create({ tenant, principal }, identity.revision);
    return {
      nonce,
      audience: config.publicUrl,
      tenant_id: tenant,
      principal_id: principal,
      expires_at: Instant.parse(new Date(expiresAtMs).toISOString()),
    };
  });
