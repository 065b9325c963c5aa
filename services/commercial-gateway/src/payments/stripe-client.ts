import { AppError } from '@countersign/contracts';
import Stripe from 'stripe';

/** Charges of banks can take this long. */
const timeoutMs = 30_000;

/** The client of the Stripe API. `apiUrl` is the address of Stripe, or of a fake in tests. */
export function createStripeClient({ secretKey, apiUrl }: { secretKey: string; apiUrl: string }): Stripe {
  const { protocol, hostname, port } = new URL(apiUrl);
  const isPlain = protocol === 'http:';
  const defaultPort = isPlain ? 80 : 443;
  return new Stripe(secretKey, {
    protocol: isPlain ? 'http' : 'https',
    host: hostname,
    port: port === '' ? defaultPort : Number(port),
    timeout: timeoutMs,
    // Workers repeat a call by their own schedule, and a webhook is delivered again.
    maxNetworkRetries: 0,
    telemetry: false,
  });
}

type Failure = { kind: 'refused'; code: string };

/** Members of an error of the SDK. It is recognised by its type: its class may be that of another copy of the package. */
type StripeFailure = { type?: unknown; code?: unknown; decline_code?: unknown; statusCode?: unknown };

/**
 * Stripe's decision about a call: a card error, or a request that it will never accept. Throws when that is unknown.
 */
export function refusalOf(error: unknown): Failure {
  const { type, code, decline_code, statusCode } = (error ?? {}) as StripeFailure; // each member is checked below
  const reason = [decline_code, code].find((value) => typeof value === 'string');
  if (type === 'StripeCardError') return { kind: 'refused', code: String(reason ?? 'card_declined') };
  const isDecided = type === 'StripeInvalidRequestError' && (statusCode === 400 || statusCode === 404);
  if (isDecided) return { kind: 'refused', code: String(reason ?? 'invalid_request') };
  throw unavailable(error);
}

/** Runs a call whose every failure is an outage to the caller. */
export async function orUnavailable<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    throw unavailable(error);
  }
}

export function unavailable(cause: unknown): AppError {
  return new AppError('PAYMENT_PROVIDER_UNAVAILABLE', 'The payment provider does not answer as expected', { cause });
}
