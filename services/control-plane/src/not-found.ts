import { AppError } from '@countersign/contracts';

/** The same text for absent objects and for objects of other callers. */
export function notFound(): AppError {
  return new AppError(
    'NOT_FOUND',
    'This object does not exist, or you have no access to it. Check its ID and the workspace',
  );
}
