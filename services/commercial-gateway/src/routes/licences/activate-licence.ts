import { Instant } from '@countersign/contracts';
import * as contract from '@countersign/contracts/commercial-gateway';
import { activateLicence } from '../../activation/activate-licence.ts';
import type { Context } from '../../context.ts';
import { handleAdmin } from '../../handle.ts';
import { licenceEndsAt } from '../../licence/verify-licence.ts';

export const activateLicenceRoute = (context: Context) =>
  handleAdmin(contract.activateLicence)(async ({ body: { licence }, caller, requestId }) => {
    const { claims, entitlements } = await activateLicence(context, licence, { actor: caller.userId, requestId });
    return {
      licence_id: claims.jti,
      org_id: claims.org,
      expires_at: Instant.parse(new Date(claims.exp * 1_000).toISOString()),
      ends_at: Instant.parse(licenceEndsAt(claims).toISOString()),
      entitlements,
    };
  });
