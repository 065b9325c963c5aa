import type { UserId } from '@countersign/contracts';
import { getWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';

/** The people who may change the policy of the workspace. Throws GATEWAY_UNAVAILABLE. */
export async function ownersOf(
  { gateway }: Pick<Context, 'gateway'>,
  { workspaceId: id, delegation }: WorkspaceCaller,
): Promise<UserId[]> {
  const asPerson = gateway.as(delegation, { getWorkspace });
  const { members } = await answerOf('gateway', () => asPerson.getWorkspace({ params: { id } }));
  return members.filter(({ role }) => role === 'owner').map(({ userId }) => userId);
}
