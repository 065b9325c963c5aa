import { AppError } from '@countersign/contracts';
import type { z } from 'zod';
import type { ReceivedEvent } from './payment-provider.ts';
import { verifySignature } from './verify-signature.ts';

type SignedBy = {
  /** Name of the signature header, in lower case. */
  header: string;
  secret: string;
};

/**
 * Returns the event in a signed body. Throws SIGNATURE_INVALID for an invalid signature, and INVALID_REQUEST for a
 * malformed event.
 */
export function signedEvent<Event>(
  { body, headers, now }: ReceivedEvent,
  shape: z.ZodType<Event>,
  { header, secret }: SignedBy,
): Event {
  const value = headers[header];
  verifySignature({ body, header: typeof value === 'string' ? value : undefined, secret, now });
  const parsed = shape.safeParse(jsonOf(body));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const param = issue?.path.join('.') ?? '';
  throw new AppError('INVALID_REQUEST', `${param}: ${issue?.message ?? 'The event is invalid'}`, { param });
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new AppError('INVALID_REQUEST', 'The body is not JSON');
  }
}
