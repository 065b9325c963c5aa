import { AppError } from '@countersign/contracts';
import type { ScimUser } from '@countersign/contracts/commercial-gateway';
import { accountAddress } from '../scim/account-address.ts';
import { planUserChange, type Position } from '../scim/plan-user-change.ts';
import { nextVersion, requireVersion } from '../scim/resource-version.ts';
import { scimRefusal } from '../scim/scim-refusal.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { leaveAllGroups } from '../store/scim-groups.ts';
import {
  findScimUser,
  markScimUserDeleted,
  raiseAccessEpoch,
  writeScimUser,
  type StoredScimUser,
} from '../store/scim-users.ts';
import { refusingTaken } from './create-user.ts';
import { requireNames, requireOwnDomain } from './require-available.ts';
import { requireWidening } from './require-widening.ts';
import { inDirectory, type ScimDeps, type ScimRequest } from './scim-caller.ts';
import { positionOf, type PositionDeps } from './position-of.ts';

type Deps = ScimDeps & PositionDeps;

/** Returns the attributes after the request. `null` deletes the person. */
type Change = (before: ScimUser) => ScimUser | null;

/**
 * `refusal` is `null` when the change is accepted. It is thrown only after the commit, so that the end of the access is
 * kept.
 */
type Outcome = { user: StoredScimUser; refusal: AppError | null };

/**
 * Changes a person by PUT or PATCH. Throws NOT_FOUND, PRECONDITION_FAILED, ALREADY_EXISTS, LAST_OWNER,
 * PERMISSION_DENIED and SCIM refusals.
 */
export async function changeUser(
  deps: Deps,
  id: string,
  change: Change,
  request: ScimRequest,
): Promise<StoredScimUser> {
  const position = await positionBefore(deps, id, change, request);
  const { user, refusal } = await refusingTaken(() =>
    inDirectory(deps, request, (tx, now) => changeIn(tx, deps, { id, change, request, position, now })),
  );
  if (refusal !== null) throw refusal;
  return user;
}

/** Ends the access of a person and deletes the resource. Throws NOT_FOUND, PRECONDITION_FAILED, LAST_OWNER. */
export async function deleteUser(deps: Deps, id: string, request: ScimRequest): Promise<void> {
  await changeUser(deps, id, () => null, request);
}

/**
 * Asks the gateway whether the person is an only owner. It asks before the transaction, and only when access would end.
 */
async function positionBefore(deps: Deps, id: string, change: Change, { orgId }: ScimRequest): Promise<Position> {
  const found = await findScimUser(deps.database.reader, { orgId, id });
  if (found === null) throw notFound();
  const ends = found.attributes.active && change(found.attributes)?.active !== true;
  return ends ? await positionOf(deps, { orgId, scimUserId: found.id }) : { isOwner: false, otherOwners: 0 };
}

type Changing = { id: string; change: Change; request: ScimRequest; position: Position; now: Date };

async function changeIn(tx: Tx, deps: Deps, { id, change, request, position, now }: Changing): Promise<Outcome> {
  const { orgId, ifMatch } = request;
  const found = await findScimUser(tx, { orgId, id });
  if (found === null) throw notFound();
  requireVersion(ifMatch, found.version);
  const after = change(found.attributes);
  const { effects, refusal } = planUserChange(found.attributes, after, position);
  const endsAccess = effects.some(({ kind }) => kind === 'deactivate' || kind === 'end_access');
  if (refusal !== null) {
    await raiseAccessEpoch(tx, { orgId, id });
    await audit(tx, found, { request, now, action: 'scim_user.access_ended', verdict: 'deny' });
    return { user: found, refusal };
  }
  if (after === null) {
    await leaveAllGroups(tx, { orgId, userId: id, now });
    await markScimUserDeleted(tx, { orgId, id }, now);
    await audit(tx, found, { request, now, action: 'scim_user.deleted' });
    return { user: found, refusal: null };
  }
  const version = nextVersion({ before: found.attributes, version: found.version }, after);
  if (version === found.version) return { user: found, refusal: null };
  await requireAllowed(tx, deps, { found, after, now });
  const accessEpoch = found.accessEpoch + (endsAccess ? 1 : 0);
  const user = await writeScimUser(tx, { orgId, id, attributes: after, version, accessEpoch, now });
  await audit(tx, user, { request, now, action: endsAccess ? 'scim_user.deactivated' : 'scim_user.changed' });
  return { user, refusal: null };
}

type Step = { found: StoredScimUser; after: ScimUser; now: Date };

async function requireAllowed(tx: Tx, deps: Deps, { found, after, now }: Step): Promise<void> {
  const { orgId, id } = found;
  const isMoved = accountAddress(after) !== found.address;
  const isRestored = after.active && !found.attributes.active;
  const isAdmitted = isMoved || isRestored;
  if (isAdmitted && found.address !== null && accountAddress(after) === null)
    throw scimRefusal('invalidValue', `This user signs in with ${found.address}. Keep an e-mail address.`, 'emails');
  // The domain is checked first. Otherwise conflicts would reveal addresses of other organisations.
  if (isAdmitted) await requireOwnDomain(tx, { orgId, user: after });
  await requireNames(tx, { orgId, id, user: after });
  if (isAdmitted && after.active) await requireWidening(tx, deps, { orgId, now });
}

type Act = {
  request: ScimRequest;
  now: Date;
  action: 'scim_user.access_ended' | 'scim_user.deleted' | 'scim_user.deactivated' | 'scim_user.changed';
  verdict?: 'allow' | 'deny';
};

async function audit(
  tx: Tx,
  { orgId, id, version, attributes }: StoredScimUser,
  { request: { tokenId: actor, requestId }, now, action, verdict = 'allow' }: Act,
): Promise<void> {
  const details = { version, active: attributes.active };
  const reason = verdict === 'deny' ? { reason: 'LAST_OWNER' } : {};
  await recordAudit(tx, { scope: orgId, action, actor, requestId, subject: id, details, verdict, ...reason }, now);
}

function notFound(): AppError {
  return new AppError('NOT_FOUND', 'The organisation has no user with this id.');
}
