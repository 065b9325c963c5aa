import { AppError, isAppError, type Answer } from '@countersign/contracts';

const outages = {
  kernel: ['GOVERNANCE_UNAVAILABLE', 'The kernel does not answer'],
  gateway: ['GATEWAY_UNAVAILABLE', 'The gateway does not answer'],
} as const;

/**
 * The answer of a sibling. Its refusals are the caller's to read, except a 401: that is about credentials between services, and would sign
 * the person out. Throws the refusal, GOVERNANCE_UNAVAILABLE or GATEWAY_UNAVAILABLE.
 */
export async function answerOf<Reply>(
  sibling: keyof typeof outages,
  call: () => Promise<Answer<Reply>>,
): Promise<Reply> {
  try {
    return (await call()).body;
  } catch (cause) {
    if (isAppError(cause) && isForCaller(cause)) throw cause;
    const [code, message] = outages[sibling];
    throw new AppError(code, message, { cause });
  }
}

/** Outages of services behind the sibling, and a missing proof of presence. */
const passedOn: ReadonlySet<string> = new Set([
  'CONTROL_PLANE_UNAVAILABLE',
  'GOVERNANCE_UNAVAILABLE',
  'PASSKEYS_UNAVAILABLE',
  'REAUTHENTICATION_REQUIRED',
]);

/** Whether a refusal of a sibling is the caller's to read. */
export function isForCaller({ status, code }: AppError): boolean {
  return (status < 500 && status !== 401) || passedOn.has(code);
}
