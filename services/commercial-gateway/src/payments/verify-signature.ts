import { createHmac } from 'node:crypto';
import { AppError } from '@countersign/contracts';
import { secretsEqual } from '@countersign/service-kit';

/** The tolerance that Stripe documents: a signature is accepted up to five minutes before and after its time. */
const toleranceSeconds = 300;
/** Limit of signatures in a header. It has one for each valid secret while secrets rotate. */
const signaturesMax = 8;
const headerBytesMax = 2_048;

type Signed = {
  body: Buffer;
  /** The signature header `t=<seconds>,v1=<hex>,…` (attacker-controlled). */
  header: string | undefined;
  secret: string;
  now: Date;
};

/**
 * Verifies the signature scheme of Stripe: HMAC-SHA256 over `<t>.<body>` in hex. Other schemes than `v1` are ignored.
 * Throws SIGNATURE_INVALID.
 */
export function verifySignature({ body, header, secret, now }: Signed): void {
  const { timestamp, signatures } = parseHeader(header);
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  // Every signature is compared, so the time does not depend on which one matches.
  const matches = signatures.filter((signature) => secretsEqual(signature, expected));
  if (matches.length === 0) throw invalid('No signature of the header matches the body');
  const ageSeconds = Math.floor(now.getTime() / 1_000) - Number(timestamp);
  if (Math.abs(ageSeconds) > toleranceSeconds)
    throw invalid(`The signature is more than ${toleranceSeconds} s from the time of the server`);
}

function parseHeader(header: string | undefined): { timestamp: string; signatures: string[] } {
  if (header === undefined) throw invalid('The signature header is missing');
  if (header.length > headerBytesMax) throw invalid(`The signature header is longer than ${headerBytesMax} characters`);
  const items = header.split(',').map((item) => item.trim().split('='));
  const valuesOf = (scheme: string) => items.flatMap(([name, value]) => (name === scheme && value ? [value] : []));
  const [timestamp = '', ...others] = valuesOf('t');
  const signatures = valuesOf('v1').filter((value) => /^[0-9a-f]{64}$/.test(value));
  if (!/^[0-9]{1,12}$/.test(timestamp) || others.length > 0)
    throw invalid('The signature header must have one time, such as t=1767225600');
  if (signatures.length === 0 || signatures.length > signaturesMax)
    throw invalid(`The signature header must have 1 to ${signaturesMax} signatures v1=<64 hex digits>`);
  return { timestamp, signatures };
}

function invalid(message: string): AppError {
  return new AppError('SIGNATURE_INVALID', message);
}
