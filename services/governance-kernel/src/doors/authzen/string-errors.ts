import type { ErrorEnvelope } from '@countersign/contracts';

/** The protocol requires text as the error body, and the status 400 for a body of another content type. */
export const stringErrors = {
  renderError: ({ error }: ErrorEnvelope) => error.message,
  errorStatuses: { 415: 400 },
} as const;
