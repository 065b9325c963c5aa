import { AppError } from '@countersign/contracts';
import type { ScimErrorType } from '@countersign/contracts/commercial-gateway';

/** A request that SCIM refuses with 400 and one of its keywords. `param` is the path or member at fault. */
export function scimRefusal(type: ScimErrorType, message: string, param?: string): AppError {
  return new AppError('INVALID_REQUEST', message, {
    details: { scim_type: type },
    ...(param === undefined ? {} : { param }),
  });
}
