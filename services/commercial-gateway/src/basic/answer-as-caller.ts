import type { IncomingMessage } from 'node:http';
import { AppError, isAppError, type Answer } from '@countersign/contracts';
import { answer, type IdempotencyClaim } from '@countersign/service-kit';
import { isForCaller } from '../siblings/answer-of.ts';

/**
 * Response headers of the gateway that are passed on: the version of the object, and whether the response is a replay
 * by Idempotency-Key.
 */
const passedBack = ['etag', 'idempotency-replayed'] as const;

type Request = { req: IncomingMessage; idempotency: IdempotencyClaim | null };
type Place = { workspaceId?: string | null };

/** Returns the headers of a call to the gateway: workspace, precondition and Idempotency-Key of the request. */
export function headersOf({ req, idempotency }: Request, { workspaceId }: Place): Record<string, string> {
  const ifMatch = req.headers['if-match'];
  return {
    ...(workspaceId ? { 'x-workspace-id': workspaceId } : {}),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    // The key is sent in quotes because it may contain spaces.
    ...(idempotency === null ? {} : { 'idempotency-key': `"${idempotency.key}"` }),
  };
}

/**
 * Calls the gateway as the caller. Returns status, body and passed-on headers. Throws the gateway's refusal of the
 * caller. Throws GATEWAY_UNAVAILABLE when the gateway does not answer or rejects the delegation. Its 401 is not passed
 * on, because it would make the caller sign in again.
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

/** Like `answerAsCaller`, but returns the response of the basic route. */
export async function passedOn<Reply>(call: () => Promise<Answer<Reply>>): Promise<ReturnType<typeof answer<Reply>>> {
  const { status, body, headers } = await answerAsCaller(call);
  return answer(status, body, headers);
}
