import { AppError, isAppError, type Answer } from '@countersign/contracts';

const outages = {
  kernel: ['GOVERNANCE_UNAVAILABLE', 'The kernel does not answer'],
  gateway: ['GATEWAY_UNAVAILABLE', 'The gateway does not answer'],
  'control plane': ['CONTROL_PLANE_UNAVAILABLE', 'The control plane does not answer'],
} as const;

/**
 * Returns the answer of a sibling service. Throws its refusal, or that the service is unavailable. A 401 is passed on
 * only for a missing proof of presence. Any other 401 concerns credentials between services, and would sign the person
 * out.
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

/** Codes that are passed on: outages of services behind the sibling, and a missing proof of presence. */
const passedOn: ReadonlySet<string> = new Set([
  'CONTROL_PLANE_UNAVAILABLE',
  'GOVERNANCE_UNAVAILABLE',
  'PASSKEYS_UNAVAILABLE',
  'REAUTHENTICATION_REQUIRED',
]);

/** Returns whether a refusal of a sibling is passed on to the caller. */
export function isForCaller({ status, code }: AppError): boolean {
  return (status < 500 && status !== 401) || passedOn.has(code);
}
