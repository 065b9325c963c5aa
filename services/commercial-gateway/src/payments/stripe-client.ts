import { AppError } from '@countersign/contracts';
import Stripe from 'stripe';

/** Timeout of a call, because a bank can take this long to charge. */
const timeoutMs = 30_000;

/** Creates the client of the Stripe API. `apiUrl` is the address of Stripe, or of a fake in tests. */
export function createStripeClient({ secretKey, apiUrl }: { secretKey: string; apiUrl: string }): Stripe {
  const { protocol, hostname, port } = new URL(apiUrl);
  const isPlain = protocol === 'http:';
  const defaultPort = isPlain ? 80 : 443;
  return new Stripe(secretKey, {
    protocol: isPlain ? 'http' : 'https',
    host: hostname,
    port: port === '' ? defaultPort : Number(port),
    timeout: timeoutMs,
    // Retries by the SDK are not needed. Workers repeat a call on their own schedule, and Stripe repeats a webhook.
    maxNetworkRetries: 0,
    telemetry: false,
  });
}

type Failure = { kind: 'refused'; code: string };

/**
 * Members of an error of the SDK. The member `type` identifies it. `instanceof` would fail with a second copy of the
 * package.
 */
type StripeFailure = { type?: unknown; code?: unknown; decline_code?: unknown; statusCode?: unknown };

/**
 * Returns Stripe's refusal of a call: a card error, or a request that it will never accept. Throws when the result of
 * the call is unknown.
 */
export function refusalOf(error: unknown): Failure {
  const { type, code, decline_code, statusCode } = (error ?? {}) as StripeFailure; // each member is checked below
  const reason = [decline_code, code].find((value) => typeof value === 'string');
  if (type === 'StripeCardError') return { kind: 'refused', code: String(reason ?? 'card_declined') };
  const isDecided = type === 'StripeInvalidRequestError' && (statusCode === 400 || statusCode === 404);
  if (isDecided) return { kind: 'refused', code: String(reason ?? 'invalid_request') };
  throw unavailable(error);
}

/** Runs a call and reports every failure as PAYMENT_PROVIDER_UNAVAILABLE. */
export async function orUnavailable<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    throw unavailable(error);
  }
}

export function unavailable(cause: unknown): AppError {
  return new AppError('PAYMENT_PROVIDER_UNAVAILABLE', 'The payment provider did not answer as expected. Try again', {
    cause,
  });
}
