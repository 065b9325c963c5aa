import { AppError } from '@countersign/contracts';

/** The same answer for every fault of a login or its code. */
export function codeInvalid(): AppError {
  return new AppError('CODE_INVALID', 'The code is wrong or has expired. Request a new one');
}
