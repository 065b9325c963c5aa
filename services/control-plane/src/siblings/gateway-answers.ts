import { AppError, isAppError, type Answer } from '@countersign/contracts';

/** Refusals of the gateway that are the person's to hear; of all others the person hears that it did not answer. */
const passedOn: ReadonlySet<string> = new Set([
  'CODE_INVALID',
  'RATE_LIMITED',
  'MAIL_UNAVAILABLE',
  'PERMISSION_DENIED',
  'LIMIT_REACHED',
]);

/** The answer of the gateway. Throws what it refused, or GATEWAY_UNAVAILABLE. */
export async function gatewayAnswers<Reply>(ask: () => Promise<Answer<Reply>>): Promise<Reply> {
  try {
    return (await ask()).body;
  } catch (cause) {
    if (isAppError(cause) && passedOn.has(cause.code)) throw cause;
    throw new AppError('GATEWAY_UNAVAILABLE', 'The gateway does not answer', { cause });
  }
}
