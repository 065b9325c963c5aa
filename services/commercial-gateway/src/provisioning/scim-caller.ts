import type { IncomingMessage } from 'node:http';
import { AppError, type ScimTokenId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { Tx } from '../store/database.ts';
import { lockIdentity } from '../store/identity-settings.ts';
import { isLiveToken } from '../store/scim-tokens.ts';

/** The identity provider of an organisation, authenticated by its SCIM token. */
export type ScimCaller = { orgId: OrgId; tokenId: ScimTokenId };

/** One request of an identity provider. */
export type ScimRequest = ScimCaller & { requestId: string; /** The header If-Match. */ ifMatch: string | undefined };

/** Returns the SCIM request of a handler. */
export function requestOf({
  caller,
  requestId,
  req,
}: {
  caller: ScimCaller;
  requestId: string;
  req: Pick<IncomingMessage, 'headers'>;
}): ScimRequest {
  return { ...caller, requestId, ifMatch: req.headers['if-match'] };
}

export type ScimDeps = Pick<Context, 'transaction' | 'database' | 'now' | 'entitlementTerms'>;

/**
 * Runs `work` in one transaction that locks the identity settings, so requests of an organisation run one after
 * another. Domains and role mappings cannot change during the transaction. Revocation takes the same lock, so a request
 * changes nothing after its token was revoked. Throws CREDENTIALS_INVALID.
 */
export function inDirectory<Result>(
  { transaction, now }: Pick<ScimDeps, 'transaction' | 'now'>,
  { orgId, tokenId: actor }: ScimCaller,
  work: (tx: Tx, at: Date) => Promise<Result>,
): Promise<Result> {
  return transaction(async (tx) => {
    const at = now();
    await lockIdentity(tx, orgId, { actor, now: at });
    if (!(await isLiveToken(tx, { orgId, id: actor, now: at }))) throw invalidToken();
    return await work(tx, at);
  });
}

export function invalidToken(): AppError {
  return new AppError('CREDENTIALS_INVALID', 'The SCIM token is not valid. Create one in the identity settings.');
}
