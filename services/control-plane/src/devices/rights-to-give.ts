import { hasRole, type PersonRole, type WorkspaceId } from '@countersign/contracts';
import { getMe } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { PersonCaller } from '../guards.ts';
import { notFound } from '../not-found.ts';
import { answerOf } from '../siblings/answer-of.ts';
import type { StoredDeviceLogin } from '../store/device-logins.ts';
import type { Within } from '../store/sessions.ts';

type Wanted = { login: Pick<StoredDeviceLogin, 'workspaceId' | 'role'>; workspaceId: WorkspaceId; role: PersonRole };

/**
 * The rights that a person may give a program in a workspace. The role is the lowest of the requested role, the chosen
 * role and the person's own. Throws NOT_FOUND if the program requested a different workspace, or the person is not a
 * member.
 */
export async function rightsToGive(
  { gateway }: Pick<Context, 'gateway'>,
  { delegation }: Pick<PersonCaller, 'delegation'>,
  { login, workspaceId, role }: Wanted,
): Promise<Within> {
  const { workspaces } = await answerOf('gateway', () => gateway.as(delegation, { getMe }).getMe());
  const membership = workspaces.find(({ id }) => id === workspaceId);
  if (membership === undefined || (login.workspaceId ?? workspaceId) !== workspaceId) throw notFound();
  return { workspaceId, role: [login.role, role, membership.role].reduce(lowerRole) };
}

function lowerRole(left: PersonRole, right: PersonRole): PersonRole {
  return hasRole(left, right) ? right : left;
}
