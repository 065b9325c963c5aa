import { z } from 'zod';
import { errorCodes, type ErrorCode } from './error-codes.ts';
import { ErrorType } from './error-type.ts';

/** The error body of all REST routes. Its first four members are the same as OpenAI's. */
export const ErrorEnvelope = z.strictObject({
  error: z.strictObject({
    message: z.string(),
    type: ErrorType,
    code: z.string(),
    param: z.string().nullable(),
    reason_code: z.string().nullable().optional(),
    request_id: z.string(),
    retryable: z.boolean(),
    details: z.record(z.string(), z.json()).optional(),
  }),
});
export type ErrorEnvelope = z.infer<typeof ErrorEnvelope>;

type AppErrorOptions = {
  /** The member at fault, as a dotted path. */
  param?: string;
  reasonCode?: string;
  /** Shown to the caller: only what the caller may know. */
  details?: Record<string, unknown>;
  /** Logged, never sent. */
  cause?: unknown;
  headers?: Record<string, string>;
};

/** The only class with an error code. Its message is safe to show. Private details are in `cause`. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly reasonCode: string | null;
  readonly details: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.param = options.param ?? null;
    this.reasonCode = options.reasonCode ?? null;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}

/** Recognises an AppError of any copy of this package, by its code and not by its class. */
export function isAppError(error: unknown): error is AppError {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code in errorCodes &&
    'headers' in error
  );
}
