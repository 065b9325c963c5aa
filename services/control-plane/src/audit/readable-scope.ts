import { AppError, isAppError, mayDo, WorkspaceId } from '@countersign/contracts';
import type { AuditScope } from '@countersign/contracts/control-plane';
import { getWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { PersonCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';

type Asked = { workspaceId: string | undefined; operation: string; requestId: string };

/**
 * The scope of the chain that is read: the person's own, or that of a workspace where they are partner or owner,
 * according to the gateway. Throws NOT_FOUND, PERMISSION_DENIED (which is recorded in that chain) or
 * GATEWAY_UNAVAILABLE. Throws NOT_FOUND, PERMISSION_DENIED (which that chain tells of) or GATEWAY_UNAVAILABLE.
 */
export async function readableScope(context: Context, caller: PersonCaller, asked: Asked): Promise<AuditScope> {
  if (asked.workspaceId === undefined) return caller.userId;
  const scope = WorkspaceId.safeParse(asked.workspaceId).data;
  if (scope === undefined) throw notFound();
  const role = await roleIn(context, caller, scope);
  if (mayDo(role, 'operation_audit.read')) return scope;
  const { operation: action, requestId } = asked;
  const act = { action, actor: caller.userId, verdict: 'deny', reason: 'PERMISSION_DENIED' } as const;
  await context.transaction((tx) => recordAudit(tx, { ...act, scope, details: { role }, requestId }, context.now()));
  throw new AppError('PERMISSION_DENIED', 'Partners and owners of a workspace read its audit log; ask one of them');
}

async function roleIn({ gateway }: Context, { userId, delegation }: PersonCaller, id: WorkspaceId) {
  const asPerson = gateway.as(delegation, { getWorkspace });
  const found = answerOf('gateway', () => asPerson.getWorkspace({ params: { id } }));
  const { members } = await found.catch((cause: unknown) => {
    throw isAppError(cause) && cause.code === 'NOT_FOUND' ? notFound() : cause;
  });
  const member = members.find((one) => one.userId === userId);
  if (member === undefined) throw notFound();
  return member.role;
}

/** An absent workspace and one of other people give the same answer, whichever check failed. */
function notFound(): AppError {
  return new AppError('NOT_FOUND', 'There is no such object');
}
