import { AppError, isAppError, type Answer } from '@countersign/contracts';

/** Refusals of the gateway that are forwarded to the person. All others are reported as an unavailable gateway. */
const passedOn: ReadonlySet<string> = new Set([
  'CODE_INVALID',
  'RATE_LIMITED',
  'MAIL_UNAVAILABLE',
  'PERMISSION_DENIED',
  'LIMIT_REACHED',
  'SSO_REQUIRED',
]);

/** The answer of the gateway. Throws its refusal, or GATEWAY_UNAVAILABLE. */
export async function gatewayAnswers<Reply>(ask: () => Promise<Answer<Reply>>): Promise<Reply> {
  try {
    return (await ask()).body;
  } catch (cause) {
    if (isAppError(cause) && passedOn.has(cause.code)) throw cause;
    throw new AppError('GATEWAY_UNAVAILABLE', 'The gateway gave no usable answer. Try again later', { cause });
  }
}
