import type { ErrorEnvelope } from '@countersign/contracts';

/** The error body of the protocol is a text, and a body of another kind is a request that is malformed. */
export const stringErrors = {
  renderError: ({ error }: ErrorEnvelope) => error.message,
  errorStatuses: { 415: 400 },
} as const;
