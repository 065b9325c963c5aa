import { hasRole, type PersonRole, type WorkspaceId } from '@countersign/contracts';
import { getMe } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { PersonCaller } from '../guards.ts';
import { notFound } from '../not-found.ts';
import { answerOf } from '../siblings/answer-of.ts';
import type { StoredDeviceLogin } from '../store/device-logins.ts';
import type { Within } from '../store/sessions.ts';

type Wanted = { asked: Pick<StoredDeviceLogin, 'workspaceId' | 'role'>; workspaceId: WorkspaceId; role: PersonRole };

/**
 * The rights that a person may give a program. They cover the workspace that it named, or any if it named none, and are
 * at most the requested role and the person's own. Throws NOT_FOUND for another workspace.
 */
export async function rightsToGive(
  { gateway }: Pick<Context, 'gateway'>,
  { delegation }: Pick<PersonCaller, 'delegation'>,
  { asked, workspaceId, role }: Wanted,
): Promise<Within> {
  const { workspaces } = await answerOf('gateway', () => gateway.as(delegation, { getMe }).getMe());
  const membership = workspaces.find(({ id }) => id === workspaceId);
  if (membership === undefined || (asked.workspaceId ?? workspaceId) !== workspaceId) throw notFound();
  return { workspaceId, role: [asked.role, role, membership.role].reduce(lowerRole) };
}

function lowerRole(left: PersonRole, right: PersonRole): PersonRole {
  return hasRole(left, right) ? right : left;
}
