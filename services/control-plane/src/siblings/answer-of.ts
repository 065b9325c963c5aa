import { AppError, isAppError, type Answer } from '@countersign/contracts';
import type { IdempotencyClaim } from '@countersign/service-kit';

const away = {
  kernel: ['GOVERNANCE_UNAVAILABLE', 'The kernel does not answer'],
  gateway: ['GATEWAY_UNAVAILABLE', 'The gateway does not answer'],
} as const;

/**
 * The answer of a sibling, for a person. A refusal is shown to the person. If the sibling does not know this service,
 * or fails, it is reported as away: its 401 would sign the person out. Throws what it refused, GOVERNANCE_UNAVAILABLE
 * or GATEWAY_UNAVAILABLE.
 */
export async function answerOf<Reply>(sibling: keyof typeof away, ask: () => Promise<Answer<Reply>>): Promise<Reply> {
  return (await answerFrom(sibling, ask)).body;
}

/** The same with the ETag of what is answered, which has one. */
export async function taggedAnswerOf<Reply>(
  sibling: keyof typeof away,
  ask: () => Promise<Answer<Reply>>,
): Promise<{ body: Reply; etag: string }> {
  const { body, headers } = await answerFrom(sibling, ask);
  return { body, etag: headers.get('etag') ?? '' };
}

/** The same with the header of an answer that the sibling kept under the Idempotency-Key, which is passed on. */
export async function keyedAnswerOf<Reply>(
  sibling: keyof typeof away,
  ask: () => Promise<Answer<Reply>>,
): Promise<{ body: Reply; replayed: Record<string, string> }> {
  const { body, headers } = await answerFrom(sibling, ask);
  return { body, replayed: headers.get('idempotency-replayed') === null ? {} : { 'idempotency-replayed': 'true' } };
}

/** The Idempotency-Key of a request, for the sibling that keeps it. In quotes: only there may it contain spaces. */
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
    // One text from every sibling: an object of others reads like an absent one.
    if (isAppError(cause) && cause.code === 'NOT_FOUND') throw new AppError('NOT_FOUND', 'There is no such object');
    if (isAppError(cause) && isTheirs(cause)) throw cause;
    const [code, message] = away[sibling];
    throw new AppError(code, message, { cause });
  }
}

/** Missing passkeys at our address are a fault for the operator; a missing proof of presence is for the person. */
function isTheirs({ status, code }: AppError): boolean {
  return (status < 500 && status !== 401) || code === 'PASSKEYS_UNAVAILABLE' || code === 'REAUTHENTICATION_REQUIRED';
}
