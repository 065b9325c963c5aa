import { CallFailed, errorCodes, isAppError, type AppError } from '@countersign/contracts';

/** The text of a failed request: its meaning for the person, the message of the service, and the next step. */
type Problem = {
  title: string;
  message: string;
  nextStep: string;
  code: string;
  /** `null` when the request did not arrive. */
  requestId: string | null;
};

export function isSignedOut(error: unknown): boolean {
  return isAppError(error) && (error.code === 'CREDENTIALS_INVALID' || error.code === 'CREDENTIALS_REQUIRED');
}

export function problemOf(error: unknown): Problem {
  if (error instanceof DOMException) return unproven(error);
  if (!isAppError(error)) return unexpected(error);
  if (error.cause instanceof CallFailed) return unanswered(error.cause);
  const requestId = error.details?.['request_id'];
  return {
    title: errorCodes[error.code].says,
    message: error.message,
    nextStep: nextStepOf(error),
    code: error.code,
    requestId: typeof requestId === 'string' ? requestId : null,
  };
}

/** The general next step of `PRECONDITION_FAILED` names a header, which people do not send. */
function nextStepOf({ code }: AppError): string {
  if (code === 'PRECONDITION_FAILED') return 'Nothing was overwritten. Look at the current version, then decide.';
  return errorCodes[code].nextStep;
}

function unanswered({ fault, message }: CallFailed): Problem {
  const nextStep = 'The result of the request is unknown. Check that the gateway runs, then look again.';
  if (fault === 'malformed')
    return { ...silent, title: 'The server sent an answer that could not be read', message, nextStep };
  return { ...silent, title: 'The gateway does not answer', message, nextStep };
}

/** The text for a passkey that was not used, for any reason. */
function unproven({ message, name }: DOMException): Problem {
  const nextStep = 'Nothing was changed. Try again, and confirm with your passkey.';
  return { code: name, requestId: null, title: 'The passkey was not used', message, nextStep };
}

const silent = { code: 'NO_ANSWER', requestId: null };

function unexpected(error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error);
  return { ...silent, code: 'FAULT', title: 'This page failed', message, nextStep: 'Load the page again.' };
}
