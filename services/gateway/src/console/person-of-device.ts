import type { SignInId, WorkspaceId } from '@countersign/contracts';
import { deviceTokenPrefix } from '@countersign/contracts/control-plane';
import type { Role, User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { introspect, sessionOver } from './introspect.ts';

type DevicePerson = { user: User; sessionId: SignInId; within: { workspaceId: WorkspaceId; role: Role } };

export function isDeviceToken(credential: string): boolean {
  return credential.startsWith(deviceTokenPrefix);
}

/**
 * The person who authorized the program with this token (attacker-controlled), and the granted scope. Throws like
 * `personOfCookie`.
 */
export async function personOfDevice(
  context: Pick<Context, 'consoleSessions' | 'database'>,
  token: string,
): Promise<DevicePerson> {
  const { user, session } = await introspect(context, token);
  if (session.kind !== 'device') throw sessionOver();
  const { sid: sessionId, workspace_id: workspaceId, role } = session;
  return { user, sessionId, within: { workspaceId, role } };
}
