import { AppError } from '@countersign/contracts';
import { isUniqueViolation } from '@countersign/database';
import { newScimUserId } from '../ids.ts';
import { parseUser } from '../scim/parse-resource.ts';
import { recordAudit } from '../store/audit.ts';
import { insertScimUser, type StoredScimUser } from '../store/scim-users.ts';
import { requireNames, requireOwnDomain } from './require-available.ts';
import { requireWidening } from './require-widening.ts';
import { inDirectory, type ScimDeps, type ScimRequest } from './scim-caller.ts';

/** Provisions a person. Throws SCIM refusals, ALREADY_EXISTS and PERMISSION_DENIED. */
export async function createUser(deps: ScimDeps, body: unknown, request: ScimRequest): Promise<StoredScimUser> {
  const user = parseUser(body);
  const { orgId, tokenId: actor, requestId } = request;
  return refusingTaken(() =>
    inDirectory(deps, request, async (tx, now) => {
      // The domain is checked first. Otherwise conflicts would reveal addresses of other organisations.
      await requireOwnDomain(tx, { orgId, user });
      await requireNames(tx, { orgId, id: null, user });
      await requireWidening(tx, deps, { orgId, now });
      const created = await insertScimUser(tx, { id: newScimUserId(), orgId, attributes: user, now });
      const details = { active: user.active, is_person: created.address !== null };
      const act = {
        scope: orgId,
        action: 'scim_user.created',
        actor,
        requestId,
        subject: created.id,
        details,
      } as const;
      await recordAudit(tx, { ...act, verdict: 'allow' }, now);
      return created;
    }),
  );
}

/**
 * Throws ALREADY_EXISTS when another organisation provisions the same address at the same time. The unique index
 * detects it.
 */
export async function refusingTaken<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isUniqueViolation(error, 'scim_users_address')) throw error;
    throw new AppError('ALREADY_EXISTS', 'Another identity provider has just provisioned this address.', {
      param: 'emails',
    });
  }
}
