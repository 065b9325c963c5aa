import { ErrorCode, errorCodes, type ErrorEnvelope } from '@countersign/contracts';
import type { ErrorBody } from '../chat/upstream-error.ts';

type OwnError = ErrorEnvelope['error'];

/**
 * Replaces the code of a model server's error with UPSTREAM_FAILED unless it is one of our codes, since clients match
 * on these. The message is kept.
 */
export function ownError({ error }: ErrorBody): OwnError {
  const code = ErrorCode.safeParse(error.code).data ?? 'UPSTREAM_FAILED';
  return { reason_code: null, ...error, code, type: errorCodes[code].type };
}
