import { AppError, isAppError, type Answer } from '@countersign/contracts';
import type { IdempotencyClaim } from '@countersign/service-kit';

const away = {
  kernel: ['GOVERNANCE_UNAVAILABLE', 'The kernel does not answer'],
  gateway: ['GATEWAY_UNAVAILABLE', 'The gateway does not answer'],
} as const;

/**
 * The answer of a sibling, for a person, including its refusals. A sibling that fails, or rejects the credential, is
 * reported as unavailable, since its 401 would sign the person out. Throws the refusal, GOVERNANCE_UNAVAILABLE or
 * GATEWAY_UNAVAILABLE.
 */
export async function answerOf<Reply>(sibling: keyof typeof away, ask: () => Promise<Answer<Reply>>): Promise<Reply> {
  return (await answerFrom(sibling, ask)).body;
}

/** Like `answerOf`, with the ETag of the answer. */
export async function taggedAnswerOf<Reply>(
  sibling: keyof typeof away,
  ask: () => Promise<Answer<Reply>>,
): Promise<{ body: Reply; etag: string }> {
  const { body, headers } = await answerFrom(sibling, ask);
  return { body, etag: headers.get('etag') ?? '' };
}

/** Like `answerOf`, with the replay header of an answer that the sibling stored under the Idempotency-Key. */
export async function keyedAnswerOf<Reply>(
  sibling: keyof typeof away,
  ask: () => Promise<Answer<Reply>>,
): Promise<{ body: Reply; replayed: Record<string, string> }> {
  const { body, headers } = await answerFrom(sibling, ask);
  return { body, replayed: headers.get('idempotency-replayed') === null ? {} : { 'idempotency-replayed': 'true' } };
}

/**
 * The Idempotency-Key of a request, for the sibling that stores it. It is quoted, since only a quoted value may
 * contain spaces.
 */
export function keyHeaders(claim: IdempotencyClaim | null): Record<string, string> {
  return claim === null ? {} : { 'idempotency-key': `"${claim.key}"` };
}

async function answerFrom<Reply>(
  sibling: keyof typeof away,
  ask: () => Promise<Answer<Reply>>,
): Promise<Answer<Reply>> {
  try {
    return await ask();
  } catch (cause) {
    // The text is the same for all siblings, so an object of other people looks like a missing object.
    if (isAppError(cause) && cause.code === 'NOT_FOUND')
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    if (isAppError(cause) && isTheirs(cause)) throw cause;
    const [code, message] = away[sibling];
    throw new AppError(code, message, { cause });
  }
}

/**
 * Whether a refusal is passed on to the person. Unavailable passkeys are passed on too, although the operator must fix
 * them, and so is a missing proof of presence.
 */
function isTheirs({ status, code }: AppError): boolean {
  return (status < 500 && status !== 401) || code === 'PASSKEYS_UNAVAILABLE' || code === 'REAUTHENTICATION_REQUIRED';
}
