import { ErrorCode, errorCodes } from '@countersign/contracts';

/**
 * Text for a refusal of the server: what happened, its message with the code, and the next step. Codes that this
 * version does not know are shown unchanged.
 */
export function refusalWords(message: string, code: string): { message: string; nextStep: string | null } {
  const { data } = ErrorCode.safeParse(code);
  if (data === undefined) return { message: `${message} (${code})`, nextStep: null };
  const { says, nextStep } = errorCodes[data];
  return { message: message.startsWith(says) ? `${message} (${code})` : `${says}: ${message} (${code})`, nextStep };
}
