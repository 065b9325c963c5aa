import { AppError, delegationTerms, type PersonRole, type SignInId, type WorkspaceId } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import { isSignedToken, signedTokenType, type PersonAudience } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { findUser } from '../store/users.ts';

type Delegated = {
  user: User;
  within: { workspaceId: WorkspaceId; role: PersonRole } | null;
  /** The time of the last proof of presence, as this gateway stated it in the delegation. */
  provenAt: Date;
  sessionId: SignInId;
  /** The service that received the delegation. */
  service: PersonAudience;
};

export function isDelegation(credential: string): boolean {
  return isSignedToken(credential) && signedTokenType(credential) === delegationTerms.type;
}

/**
 * The person on whose behalf the control plane or the commercial gateway calls, from a delegation
 * (attacker-controlled) that this gateway sent with the request of the person. It grants no more than that request.
 * Throws CREDENTIALS_INVALID.
 */
export async function personOfDelegation(
  { delegations, database }: Pick<Context, 'delegations' | 'database'>,
  text: string,
): Promise<Delegated> {
  const { sub, sid: sessionId, auth_time, workspace_id: workspaceId, role, azp } = await delegations.verify(text);
  const user = await findUser(database.reader, sub);
  if (user === null) throw new AppError('CREDENTIALS_INVALID', 'The delegation is not valid');
  const within = workspaceId === undefined || role === undefined ? null : { workspaceId, role };
  const service = azp === undefined ? 'control-plane' : 'commercial-gateway';
  return { user, within, provenAt: new Date(auth_time * 1_000), sessionId, service };
}
