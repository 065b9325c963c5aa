import type { IncomingMessage } from 'node:http';
import { AppError, isAppError, type Answer } from '@countersign/contracts';
import { answer, type IdempotencyClaim } from '@countersign/service-kit';
import { isForCaller } from '../siblings/answer-of.ts';

/** Headers of an answer that belong to the object, or to the Idempotency-Key that the other service keeps. */
const passedBack = ['etag', 'idempotency-replayed'] as const;

type Request = { req: IncomingMessage; idempotency: IdempotencyClaim | null };
type Place = { workspaceId?: string | null };

/** Headers of a call to the gateway: the workspace, the precondition and the Idempotency-Key of the request. */
export function headersOf({ req, idempotency }: Request, { workspaceId }: Place): Record<string, string> {
  const ifMatch = req.headers['if-match'];
  return {
    ...(workspaceId ? { 'x-workspace-id': workspaceId } : {}),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    // In quotes: only there may a key contain spaces.
    ...(idempotency === null ? {} : { 'idempotency-key': `"${idempotency.key}"` }),
  };
}

/**
 * The body of an answer of the gateway, with the headers that belong to it. Refusals of the caller are passed on. Throws GATEWAY_UNAVAILABLE when
 * the gateway does not answer, or does not accept the delegation: a 401 would tell the caller to sign in again.
 */
export async function answerAsCaller<Reply>(
  call: () => Promise<Answer<Reply>>,
): Promise<{ status: number; body: Reply; headers: Record<string, string> }> {
  try {
    const { status, body, headers } = await call();
    const kept = passedBack.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    return { status, body, headers: Object.fromEntries(kept) };
  } catch (cause) {
    if (isAppError(cause) && isForCaller(cause)) throw cause;
    throw new AppError('GATEWAY_UNAVAILABLE', 'The gateway does not answer. Try again', { cause });
  }
}

/** The same, as the answer of the basic route. */
export async function passedOn<Reply>(call: () => Promise<Answer<Reply>>): Promise<ReturnType<typeof answer<Reply>>> {
  const { status, body, headers } = await answerAsCaller(call);
  return answer(status, body, headers);
}
