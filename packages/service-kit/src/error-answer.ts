import { AppError, errorCodes, isAppError, type ErrorEnvelope } from '@countersign/contracts';

/**
 * Converts an error of a library, such as that of a database that does not answer, to an AppError. `null` for other
 * errors.
 */
export type ClassifyError = (error: unknown) => AppError | null;

/** Converts errors that `isOutage` recognises (a database that does not answer) to a retryable 503. */
export function storeOutage(isOutage: (error: unknown) => boolean): ClassifyError {
  return (error) =>
    isOutage(error)
      ? new AppError('STORE_UNAVAILABLE', 'The database does not answer. Try again', {
          cause: error,
          headers: { 'retry-after': '1' },
        })
      : null;
}

type ErrorAnswer = { status: number; headers: Readonly<Record<string, string>>; envelope: ErrorEnvelope };

/** Translates errors to answers. Unrecognised errors become INTERNAL without a detail. */
export function errorAnswer(error: unknown, requestId: string, classifiers: readonly ClassifyError[]): ErrorAnswer {
  const recognised = recognise(error, classifiers);
  if (recognised === null || recognised.code === 'INTERNAL')
    return { status: 500, headers: {}, envelope: internal(requestId) };
  const { status, type, retryable } = errorCodes[recognised.code];
  return {
    status,
    headers: { ...challenge(recognised), ...recognised.headers },
    envelope: {
      error: {
        message: recognised.message,
        type,
        code: recognised.code,
        param: recognised.param,
        reason_code: recognised.reasonCode,
        request_id: requestId,
        retryable,
        ...(recognised.details === undefined ? {} : { details: plain(recognised.details) }),
      },
    },
  };
}

function recognise(error: unknown, classifiers: readonly ClassifyError[]): AppError | null {
  if (isAppError(error)) return error;
  for (const classify of classifiers) {
    const classified = classify(error);
    if (classified !== null) return classified;
  }
  return null;
}

/** RFC 6750 §3: the challenge distinguishes a refused credential from a missing one. */
function challenge(error: AppError): Record<string, string> {
  if (error.status !== 401) return {};
  return { 'www-authenticate': error.code === 'CREDENTIALS_REQUIRED' ? 'Bearer' : 'Bearer error="invalid_token"' };
}

function internal(requestId: string): ErrorEnvelope {
  const { type, retryable } = errorCodes.INTERNAL;
  return {
    error: {
      message: 'Internal error',
      type,
      code: 'INTERNAL',
      param: null,
      reason_code: null,
      request_id: requestId,
      retryable,
    },
  };
}

/** Details are sent as JSON, so dates and similar values are converted. */
function plain(details: Record<string, unknown>): NonNullable<ErrorEnvelope['error']['details']> {
  return JSON.parse(JSON.stringify(details)) as NonNullable<ErrorEnvelope['error']['details']>; // JSON by construction
}
