import { challengeVoucher } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { beginVoucher } from '../../controls/passkeys/vouch.ts';
import { passkeysAt } from '../../controls/passkeys/relying-party.ts';

export const challengeVoucherRoute = ({ passkeys }: Context) =>
  handleTenant(challengeVoucher)(async ({ params: { principal, credential_id: id }, caller }) => {
    const { tenant, principal: by } = caller;
    const { challenge, statement, options } = await beginVoucher(passkeysAt(passkeys, caller), {
      tenant,
      by,
      principal,
      id,
    });
    return challengeVoucher.reply.parse({
      challenge,
      expires_at: statement.expires_at,
      options,
      statement,
    });
  });
