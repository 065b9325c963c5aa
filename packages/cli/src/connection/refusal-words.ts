import { ErrorCode, errorCodes } from '@countersign/contracts';

/**
 * A refusal of the server in words: what happened, its own message with the code, and what to do now. A code that this version
 * does not know stays as it is.
 */
export function refusalWords(message: string, code: string): { said: string; nextStep: string | null } {
  const { data } = ErrorCode.safeParse(code);
  if (data === undefined) return { said: `${message} (${code})`, nextStep: null };
  const { says, nextStep } = errorCodes[data];
  return { said: message.startsWith(says) ? `${message} (${code})` : `${says}: ${message} (${code})`, nextStep };
}
