/** Deep enough for any honest log field. Deeper values are cut. */
const depthMax = 6;
const redacted = '[redacted]';

const secretNames =
  /(^|_)(authorization|cookie|token|key|secret|code|password|passwd|passphrase|otp|credential|credentials|bearer)$/;
/** Names that end like secrets but only identify or classify. */
const harmlessNames =
  /^(reason_code|error_code|status_code|exit_code|idempotency_key|public_key|routing_key|partition_key)$/;

/**
 * A copy that is safe to log: members named like secrets are replaced at every depth, and credentials in texts are
 * masked.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= depthMax) return '[deeper]';
  if (value instanceof Error) return describeError(value, depth);
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  const members = Object.entries(value).map(([name, member]) => [
    name,
    isSecretName(name) ? redacted : redact(member, depth + 1),
  ]);
  return Object.fromEntries(members);
}

function isSecretName(name: string): boolean {
  const snake = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
  return secretNames.test(snake) && !harmlessNames.test(snake);
}

function maskText(text: string): string {
  return text
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+@/gi, `$1${redacted}@`)
    .replace(/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${redacted}`);
}

function describeError(error: Error, depth: number): Record<string, unknown> {
  const code = 'code' in error ? { error_code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) };
  return { name: error.name, message: maskText(error.message), ...code, stack: maskText(error.stack ?? ''), ...cause };
}
