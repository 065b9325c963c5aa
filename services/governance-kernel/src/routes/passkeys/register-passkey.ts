import { Instant } from '@countersign/contracts';
import { registerPasskey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { beginEnrolment } from '../../controls/passkeys/enrol-passkey.ts';
import { requireOwner } from '../../controls/passkeys/owner.ts';
import { passkeysAt } from '../../controls/passkeys/relying-party.ts';

export const registerPasskeyRoute = ({ passkeys }: Context) =>
  handleTenant(registerPasskey)(async ({ params: { principal }, caller }) => {
    requireOwner(caller, principal);
    const { challenge, options, expiresAtMs } = await beginEnrolment(passkeysAt(passkeys, caller), {
      tenant: caller.tenant,
      principal,
    });
    return registerPasskey.reply.parse({
      challenge,
      options,
      expires_at: Instant.parse(new Date(expiresAtMs).toISOString()),
    });
  });
