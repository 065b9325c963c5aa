import { AppError } from '@countersign/contracts';

/** One text for everything that is absent or belongs to others. */
export function notFound(): AppError {
  return new AppError('NOT_FOUND', 'There is no such object');
}
