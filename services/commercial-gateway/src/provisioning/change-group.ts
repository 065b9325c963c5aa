import { AppError } from '@countersign/contracts';
import type { ScimGroup } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { newScimGroupId } from '../ids.ts';
import { parseGroup } from '../scim/parse-resource.ts';
import { nextVersion, requireVersion } from '../scim/resource-version.ts';
import { scimRefusal } from '../scim/scim-refusal.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { findIdentity } from '../store/identity-settings.ts';
import {
  changeMembers,
  findScimGroup,
  insertScimGroup,
  listMemberIds,
  markScimGroupDeleted,
  writeScimGroup,
  type StoredScimGroup,
} from '../store/scim-groups.ts';
import { listKnownIds, markEffectsDue } from '../store/scim-users.ts';
import { requireWidening } from './require-widening.ts';
import { inDirectory, type ScimDeps, type ScimRequest } from './scim-caller.ts';

/** Provisions a group. Throws SCIM refusals and PERMISSION_DENIED. */
export function createGroup(deps: ScimDeps, body: unknown, request: ScimRequest): Promise<StoredScimGroup> {
  const group = parseGroup(body);
  const { orgId } = request;
  return inDirectory(deps, request, async (tx, now) => {
    const added = idsOf(group);
    await requireMembers(tx, orgId, added);
    await requireWidening(tx, deps, { orgId, now });
    const { displayName, externalId = null } = group;
    const created = await insertScimGroup(tx, { id: newScimGroupId(), orgId, displayName, externalId, now });
    await changeMembers(tx, { orgId, id: created.id, added, removed: [] });
    await markConcerned(tx, orgId, { names: [displayName], userIds: added });
    const details = { version: 1, added: added.length, removed: 0 };
    await audit(tx, created, { request, now, action: 'scim_group.created', details });
    return created;
  });
}

/** Changes a group by PUT or PATCH. Throws NOT_FOUND, PRECONDITION_FAILED, PERMISSION_DENIED and SCIM refusals. */
export function changeGroup(
  deps: ScimDeps,
  id: string,
  change: (before: ScimGroup) => ScimGroup,
  request: ScimRequest,
): Promise<StoredScimGroup> {
  const { orgId, ifMatch } = request;
  return inDirectory(deps, request, async (tx, now) => {
    const found = await getGroup(tx, { orgId, id });
    requireVersion(ifMatch, found.version);
    const memberIds = await listMemberIds(tx, { orgId, id });
    const before = bare({ ...found, memberIds });
    const changed = change(before);
    const after = bare({ ...changed, externalId: changed.externalId ?? null, memberIds: idsOf(changed) });
    const version = nextVersion({ before, version: found.version }, after);
    if (version === found.version) return found;
    const step = stepBetween(before, after);
    await requireMembers(tx, orgId, step.added);
    if (step.added.length > 0 || step.isRenamed) await requireWidening(tx, deps, { orgId, now });
    await changeMembers(tx, { orgId, id, added: step.added, removed: step.removed });
    const { displayName, externalId = null } = after;
    const group = await writeScimGroup(tx, { orgId, id, displayName, externalId, version, now });
    await markConcerned(tx, orgId, { names: [before.displayName, displayName], userIds: step.concerned });
    const details = { version, added: step.added.length, removed: step.removed.length };
    await audit(tx, group, { request, now, action: 'scim_group.changed', details });
    return group;
  });
}

/** Deletes a group. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteGroup(deps: ScimDeps, id: string, request: ScimRequest): Promise<void> {
  const { orgId, ifMatch } = request;
  return inDirectory(deps, request, async (tx, now) => {
    const found = await getGroup(tx, { orgId, id });
    requireVersion(ifMatch, found.version);
    const memberIds = await listMemberIds(tx, { orgId, id });
    await markConcerned(tx, orgId, { names: [found.displayName], userIds: memberIds });
    await markScimGroupDeleted(tx, { orgId, id }, now);
    const details = { version: found.version, added: 0, removed: memberIds.length };
    await audit(tx, found, { request, now, action: 'scim_group.deleted', details });
  });
}

async function getGroup(tx: Tx, of: { orgId: OrgId; id: string }): Promise<StoredScimGroup> {
  const found = await findScimGroup(tx, of);
  if (found === null) throw new AppError('NOT_FOUND', 'The organisation has no group with this id.');
  return found;
}

/** Returns the stored attributes. Members are stored only by their IDs. */
function bare({
  displayName,
  externalId,
  memberIds,
}: Pick<StoredScimGroup, 'displayName' | 'externalId'> & { memberIds: readonly string[] }): ScimGroup {
  return {
    displayName,
    ...(externalId === null ? {} : { externalId }),
    ...(memberIds.length === 0 ? {} : { members: memberIds.map((value) => ({ value })) }),
  };
}

function idsOf({ members = [] }: ScimGroup): string[] {
  return [...new Set(members.map(({ value }) => value))];
}

type GroupStep = {
  added: string[];
  removed: string[];
  isRenamed: boolean;
  /** People whose role may change. */ concerned: string[];
};

function stepBetween(before: ScimGroup, after: ScimGroup): GroupStep {
  const [old, next] = [new Set(idsOf(before)), new Set(idsOf(after))];
  const added = [...next].filter((id) => !old.has(id));
  const removed = [...old].filter((id) => !next.has(id));
  const isRenamed = before.displayName !== after.displayName;
  return { added, removed, isRenamed, concerned: isRenamed ? [...new Set([...old, ...next])] : [...added, ...removed] };
}

/** Throws `invalidValue` for a member who does not belong to this organisation. */
async function requireMembers(tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<void> {
  const existing = await listKnownIds(tx, orgId, ids);
  const unknown = ids.find((id) => !existing.has(id));
  if (unknown === undefined) return;
  throw scimRefusal('invalidValue', `No user has the id ${unknown}. Provision the user first.`, 'members');
}

/** Marks the people for publication, unless no role mapping names the group. */
async function markConcerned(
  tx: Tx,
  orgId: OrgId,
  { names, userIds }: { names: readonly string[]; userIds: readonly string[] },
): Promise<void> {
  const { roleMappings } = await findIdentity(tx, orgId);
  if (roleMappings.some(({ group }) => names.includes(group))) await markEffectsDue(tx, orgId, userIds);
}

type Act = {
  request: ScimRequest;
  now: Date;
  action: 'scim_group.created' | 'scim_group.changed' | 'scim_group.deleted';
  details: { version: number; added: number; removed: number };
};

async function audit(tx: Tx, { orgId, id }: StoredScimGroup, { request, now, action, details }: Act): Promise<void> {
  const { tokenId: actor, requestId } = request;
  await recordAudit(tx, { scope: orgId, action, actor, requestId, subject: id, details, verdict: 'allow' }, now);
}
