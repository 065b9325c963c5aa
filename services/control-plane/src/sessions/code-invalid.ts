import { AppError } from '@countersign/contracts';

/** One answer for whatever was wrong with a login or its code. */
export function codeInvalid(): AppError {
  return new AppError('CODE_INVALID', 'The code is wrong or no longer valid');
}
