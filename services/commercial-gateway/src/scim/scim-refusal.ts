import { AppError } from '@countersign/contracts';
import type { ScimErrorType } from '@countersign/contracts/commercial-gateway';

/** Creates a SCIM error with status 400 and a `scimType` keyword. `param` is the invalid path or member. */
export function scimRefusal(type: ScimErrorType, message: string, param?: string): AppError {
  return new AppError('INVALID_REQUEST', message, {
    details: { scim_type: type },
    ...(param === undefined ? {} : { param }),
  });
}
