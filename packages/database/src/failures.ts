// PostgreSQL error classes (appendix A of its manual) after which the same call can succeed later without a change.
const unavailableClasses = new Set(['08', '53', '58']);
const unavailableCodes = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now: starting up or shutting down
  '57P05', // idle_session_timeout
  '57014', // query_canceled: statement_timeout
  '55P03', // lock_not_available
  '25P03', // idle_in_transaction_session_timeout
  '25006', // read_only_sql_transaction: a standby after a fail-over
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'P1001', // Prisma: cannot reach the server
  'P1002', // Prisma: server timed out
  'P1008', // Prisma: operation timed out
  'P1017', // Prisma: server closed the connection
  'P2024', // Prisma: no connection from the pool in time
  'P2037', // Prisma: too many connections
]);
// node-postgres and its pool throw these errors without a code.
const unavailableMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end',
  // Prisma has one code for all failures of a transaction. Only the failures with these two messages are temporary.
  'Unable to start a transaction in the given time',
  'cannot be executed on an expired transaction',
];
// Prisma's adapter replaces a socket error by one of these kinds.
const unavailableKinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections']);

/**
 * True when PostgreSQL is temporarily unusable, such as lost, starting, stopping, overloaded, read-only or timed out.
 * Reply with 503, so that the caller retries.
 */
export function isUnavailable(error: unknown): boolean {
  return layersOf(error).some((layer) => {
    const code = codeOf(layer);
    if (code !== undefined && (unavailableCodes.has(code) || isUnavailableClass(code))) return true;
    if (unavailableKinds.has(textOf(layer, 'kind') ?? '')) return true;
    const message = textOf(layer, 'message') ?? '';
    return unavailableMessages.some((text) => message.includes(text));
  });
}

/**
 * True for a violated UNIQUE constraint or index, from raw SQL or from Prisma. `constraint` limits it to the constraint
 * of this name.
 */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const layers = layersOf(error);
  if (!layers.some((layer) => codeOf(layer) === '23505' || codeOf(layer) === 'P2002')) return false;
  return constraint === undefined || layers.some((layer) => constraintOf(layer) === constraint);
}

/** True when the whole transaction should be retried: serialization failure or deadlock. */
export function isSerializationFailure(error: unknown): boolean {
  return layersOf(error).some((layer) => ['40001', '40P01', 'P2034'].includes(codeOf(layer) ?? ''));
}

/** True when a lock was not free in time (`lock_timeout`, or at once with NOWAIT). The statement itself is valid. */
export function isLockTimeout(error: unknown): boolean {
  return layersOf(error).some((layer) => codeOf(layer) === '55P03');
}

/**
 * Makes an error safe to log. A validation error of Prisma quotes all values of the call, so only the description of
 * the fault is kept. Other errors are returned unchanged.
 */
export function withoutValues(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'PrismaClientValidationError') return error;
  const stripped = new Error(error.message.slice(error.message.lastIndexOf('\n') + 1));
  stripped.name = error.name;
  return stripped;
}

function isUnavailableClass(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && unavailableClasses.has(code.slice(0, 2));
}

// Prisma wraps the driver's error (meta.driverAdapterError.cause). Node wraps one error per address
// (AggregateError.errors).
function layersOf(error: unknown): unknown[] {
  const layers: unknown[] = [];
  const pending: unknown[] = [error];
  while (pending.length > 0 && layers.length < 20) {
    const layer = pending.shift();
    if (typeof layer !== 'object' || layer === null || layers.includes(layer)) continue;
    layers.push(layer);
    const inner = member(layer, 'errors');
    pending.push(member(layer, 'cause'), member(member(layer, 'meta'), 'driverAdapterError'));
    if (Array.isArray(inner)) pending.push(...(inner as unknown[])); // isArray narrows it to any[]
  }
  return layers;
}

function codeOf(layer: unknown): string | undefined {
  return textOf(layer, 'originalCode') ?? textOf(layer, 'code');
}

function constraintOf(layer: unknown): string | undefined {
  return textOf(layer, 'constraint') ?? textOf(member(layer, 'constraint'), 'index');
}

function textOf(value: unknown, key: string): string | undefined {
  const found = member(value, key);
  return typeof found === 'string' ? found : undefined;
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
