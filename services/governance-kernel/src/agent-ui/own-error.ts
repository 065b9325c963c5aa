import { ErrorCode, errorCodes, type ErrorEnvelope } from '@countersign/contracts';
import type { ErrorBody } from '../chat/upstream-error.ts';

type OwnError = ErrorEnvelope['error'];

/** An error of a model call under one of our codes. The message of the model server is kept, its code is not: clients match on ours. */
export function ownError({ error }: ErrorBody): OwnError {
  const code = ErrorCode.safeParse(error.code).data ?? 'UPSTREAM_FAILED';
  return { reason_code: null, ...error, code, type: errorCodes[code].type };
}
