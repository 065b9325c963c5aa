import { z } from 'zod';

export const ErrorType = z.enum([
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'conflict_error',
  'rate_limit_error',
  'unavailable_error',
  'internal_error',
]);
export type ErrorType = z.infer<typeof ErrorType>;
