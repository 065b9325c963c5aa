import { AppError, isAppError, mayDo, WorkspaceId } from '@countersign/contracts';
import type { AuditScope } from '@countersign/contracts/control-plane';
import { getWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { PersonCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';

type Input = { workspaceId: string | undefined; operation: string; requestId: string };

/**
 * The scope of the chain to read: the person's own, or that of a workspace in which they are partner or owner,
 * according to the gateway. Throws NOT_FOUND, PERMISSION_DENIED (which is recorded in that chain) or
 * GATEWAY_UNAVAILABLE.
 */
export async function readableScope(
  context: Pick<Context, 'gateway' | 'now' | 'transaction'>,
  caller: PersonCaller,
  input: Input,
): Promise<AuditScope> {
  if (input.workspaceId === undefined) return caller.userId;
  const scope = WorkspaceId.safeParse(input.workspaceId).data;
  if (scope === undefined) throw notFound();
  const role = await roleIn(context, caller, scope);
  if (mayDo(role, 'operation_audit.read')) return scope;
  const { operation: action, requestId } = input;
  const act = { action, actor: caller.userId, verdict: 'deny', reason: 'PERMISSION_DENIED' } as const;
  await context.transaction((tx) => recordAudit(tx, { ...act, scope, details: { role }, requestId }, context.now()));
  throw new AppError(
    'PERMISSION_DENIED',
    'Only partners and owners of a workspace can read its audit log. Ask one of them',
  );
}

async function roleIn({ gateway }: Pick<Context, 'gateway'>, { userId, delegation }: PersonCaller, id: WorkspaceId) {
  const asPerson = gateway.as(delegation, { getWorkspace });
  const found = answerOf('gateway', () => asPerson.getWorkspace({ params: { id } }));
  const { members } = await found.catch((cause: unknown) => {
    throw isAppError(cause) && cause.code === 'NOT_FOUND' ? notFound() : cause;
  });
  const member = members.find((one) => one.userId === userId);
  if (member === undefined) throw notFound();
  return member.role;
}

/** A missing workspace and a workspace of other people get the same error, whichever check failed. */
function notFound(): AppError {
  return new AppError(
    'NOT_FOUND',
    'This object does not exist, or you have no access to it. Check its ID and the workspace',
  );
}
