import { instantOf, AppError, type WorkspaceId } from '@countersign/contracts';
import { applyWorkspaceSettings, getMe, openWorkspace } from '@countersign/contracts/gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { publishOrgCreated } from '../events.ts';
import type { PersonCaller } from '../guards.ts';
import { newOrgId } from '../ids.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import { findFirstWorkspace, findOrgIds, findOrgOfAdmin, insertOrg, type Org, type Owned } from '../store/orgs.ts';
import { addWorkspace } from './add-workspace.ts';
import { placeWorkspace } from './place-workspace.ts';

type Deps = Pick<Context, 'database' | 'newEvent' | 'gateway' | 'kernel' | 'now' | 'transaction'>;
type BootstrapOrgDeps = Pick<Context, 'database' | 'newEvent' | 'gateway' | 'now' | 'transaction'>;

type Input = { name: string; caller: PersonCaller; requestId: string };

/**
 * The organisation of a person, created with its first workspace if there is none yet. Each step detects the results
 * of earlier steps, so a repeated request continues after a crash. If two requests race, both return the same
 * organisation.
 */
export async function bootstrapOrg(context: Deps, input: Input): Promise<Org & { workspaceId: WorkspaceId }> {
  const { reader } = context.database;
  const org = (await findOrgOfAdmin(reader, input.caller.userId)) ?? (await makeOrg(context, input));
  const first = (await findFirstWorkspace(reader, org.id)) ?? (await giveWorkspace(context, org, input));
  const { workspaceId } = first;
  if (!first.isPlaced) {
    const asPerson = context.gateway.as(input.caller.delegation, { applyWorkspaceSettings });
    await answerOf('gateway', () => asPerson.applyWorkspaceSettings({ params: { id: workspaceId } }));
    await placeWorkspace(context, first);
  }
  return { ...org, workspaceId };
}

async function makeOrg(
  context: Pick<Context, 'database' | 'newEvent' | 'now' | 'transaction'>,
  { name, caller: { userId }, requestId }: Input,
): Promise<Org> {
  const org = { id: newOrgId(), name };
  await context.transaction(async (tx) => {
    const now = context.now();
    if (!(await insertOrg(tx, { ...org, adminId: userId }, now))) return;
    const act = { scope: userId, action: 'org.created', actor: userId, verdict: 'allow', requestId } as const;
    await recordAudit(tx, { ...act, subject: org.id, details: { name } }, now);
    await publishOrgCreated(tx, context, { org_id: org.id, name, admin_id: userId, created_at: instantOf(now) });
  });
  const current = await findOrgOfAdmin(context.database.reader, userId);
  if (current === null) throw new Error('The organisation is missing after it was created');
  return current;
}

async function giveWorkspace(
  context: BootstrapOrgDeps,
  { id: orgId }: Org,
  { caller, requestId }: Input,
): Promise<Owned> {
  const workspaceId = await freeWorkspace(context, orgId, caller);
  await addWorkspace(context, { workspaceId, orgId, by: caller.userId, requestId });
  const first = await findFirstWorkspace(context.database.reader, orgId);
  if (first !== null) return first;
  throw new AppError('ALREADY_EXISTS', 'Another organisation reserved this workspace at the same time. Try again');
}

/** The first workspace that the person owns and that no other organisation has, or a new one. */
async function freeWorkspace(
  { gateway, database }: Pick<Context, 'database' | 'gateway'>,
  orgId: OrgId,
  caller: PersonCaller,
): Promise<WorkspaceId> {
  const asPerson = gateway.as(caller.delegation, { getMe, openWorkspace });
  const { workspaces } = await answerOf('gateway', () => asPerson.getMe({}));
  const owned = workspaces.filter(({ role }) => role === 'owner').map(({ id }) => id);
  const taken = await findOrgIds(database.reader, owned);
  const free = owned.find((id) => (taken.get(id) ?? orgId) === orgId);
  if (free !== undefined) return free;
  const headers = { 'idempotency-key': `bootstrap-${orgId}` };
  return (await answerOf('gateway', () => asPerson.openWorkspace({ body: {}, headers }))).id;
}
