import type { IncomingMessage } from 'node:http';
import type { ScimTokenId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { Tx } from '../store/database.ts';
import { lockIdentity } from '../store/identity-settings.ts';

/** The identity provider that holds a token of an organisation. */
export type ScimCaller = { orgId: OrgId; tokenId: ScimTokenId };

/** One request of an identity provider. */
export type ScimRequest = ScimCaller & { requestId: string; /** The header If-Match. */ ifMatch: string | undefined };

/** The request that a handler got. */
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
 * Runs `work` in one transaction that holds the identity settings: domains and role mappings stay as they are, and two requests of an
 * organisation do not conflict. Identity providers send few requests at once.
 */
export function inDirectory<Result>(
  { transaction, now }: Pick<ScimDeps, 'transaction' | 'now'>,
  { orgId, tokenId: actor }: ScimCaller,
  work: (tx: Tx, at: Date) => Promise<Result>,
): Promise<Result> {
  return transaction(async (tx) => {
    const at = now();
    await lockIdentity(tx, orgId, { actor, now: at });
    return await work(tx, at);
  });
}
