import { AppError, type WorkspaceId } from '@countersign/contracts';
import { applyWorkspaceSettings, getMe, openWorkspace } from '@countersign/contracts/gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { publishOrgCreated } from '../events.ts';
import type { PersonCaller } from '../guards.ts';
import { newOrgId } from '../ids.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import { instant } from '../store/instant.ts';
import { findFirstWorkspace, findOrgIds, findOrgOfAdmin, insertOrg, type Org, type Owned } from '../store/orgs.ts';
import { addWorkspace } from './add-workspace.ts';
import { placeWorkspace } from './place-workspace.ts';

type Asked = { name: string; caller: PersonCaller; requestId: string };

/**
 * The organisation of a person, made with its first workspace if there is none yet. Each step finds out what the ones
 * before have left, so a repeated request continues after a crash. If two requests race, both answer the same.
 */
export async function bootstrapOrg(context: Context, asked: Asked): Promise<Org & { workspaceId: WorkspaceId }> {
  const { reader } = context.database;
  const org = (await findOrgOfAdmin(reader, asked.caller.userId)) ?? (await makeOrg(context, asked));
  const first = (await findFirstWorkspace(reader, org.id)) ?? (await giveWorkspace(context, org, asked));
  const { workspaceId } = first;
  if (!first.isPlaced) {
    const asPerson = context.gateway.as(asked.caller.delegation, { applyWorkspaceSettings });
    await answerOf('gateway', () => asPerson.applyWorkspaceSettings({ params: { id: workspaceId } }));
    await placeWorkspace(context, first);
  }
  return { ...org, workspaceId };
}

async function makeOrg(context: Context, { name, caller: { userId }, requestId }: Asked): Promise<Org> {
  const org = { id: newOrgId(), name };
  await context.transaction(async (tx) => {
    const now = context.now();
    if (!(await insertOrg(tx, { ...org, adminId: userId }, now))) return;
    const act = { scope: userId, action: 'org.created', actor: userId, verdict: 'allow', requestId } as const;
    await recordAudit(tx, { ...act, subject: org.id, details: { name } }, now);
    await publishOrgCreated(tx, context, { org_id: org.id, name, admin_id: userId, created_at: instant(now) });
  });
  const standing = await findOrgOfAdmin(context.database.reader, userId);
  if (standing === null) throw new Error('An organisation that was made is gone');
  return standing;
}

async function giveWorkspace(context: Context, { id: orgId }: Org, { caller, requestId }: Asked): Promise<Owned> {
  const workspaceId = await freeWorkspace(context, orgId, caller);
  await addWorkspace(context, { workspaceId, orgId, by: caller.userId, requestId });
  const first = await findFirstWorkspace(context.database.reader, orgId);
  if (first !== null) return first;
  throw new AppError('ALREADY_EXISTS', 'Another organisation took the workspace just now: ask again');
}

/** The first workspace that the person owns and no other organisation has, or a new one. */
async function freeWorkspace({ gateway, database }: Context, orgId: OrgId, caller: PersonCaller): Promise<WorkspaceId> {
  const asPerson = gateway.as(caller.delegation, { getMe, openWorkspace });
  const { workspaces } = await answerOf('gateway', () => asPerson.getMe({}));
  const owned = workspaces.filter(({ role }) => role === 'owner').map(({ id }) => id);
  const taken = await findOrgIds(database.reader, owned);
  const free = owned.find((id) => (taken.get(id) ?? orgId) === orgId);
  if (free !== undefined) return free;
  const headers = { 'idempotency-key': `bootstrap-${orgId}` };
  return (await answerOf('gateway', () => asPerson.openWorkspace({ body: {}, headers }))).id;
}
