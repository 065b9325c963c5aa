import { errorCodes, isAppError, type AnyRoute } from '@countersign/contracts';

type Input = { params?: unknown; query?: unknown; body?: unknown; headers?: Record<string, string> };
type Call = (input?: Input) => Promise<unknown>;

/** After this time, a repeated act counts as a new act, and must not return the result of the first one. */
const keptMs = 120_000;

/**
 * Keeps the Idempotency-Key of an act for two minutes if its answer was lost or does not state the result. Sending the
 * act again within that time then executes it only once. Any other answer ends the key, also a refusal: the same form
 * sent later is a new act. A key that the caller sets is sent unchanged.
 */
export function withKeys<Calls extends object>(
  routes: Record<string, AnyRoute>,
  calls: Calls,
  nowMs = () => performance.now(),
): Calls {
  const keyed = Object.entries<Call>(calls as Record<string, Call>).map(([name, call]) => [
    name,
    routes[name]?.idempotency === 'key' ? keptUntilAnswered(call, nowMs) : call,
  ]); // a client has only calls
  return Object.fromEntries(keyed) as Calls; // has the same keys as `calls`
}

function keptUntilAnswered(call: Call, nowMs: () => number): Call {
  const keys = new Map<string, { key: string; madeAtMs: number }>();
  const keyOf = (name: string): string => {
    const existing = keys.get(name);
    if (existing !== undefined && nowMs() - existing.madeAtMs < keptMs) return existing.key;
    const key = crypto.randomUUID();
    keys.set(name, { key, madeAtMs: nowMs() });
    return key;
  };
  return async (input = {}) => {
    const { headers, ...act } = input;
    const name = JSON.stringify(act);
    try {
      const answer = await call({ ...act, headers: { 'idempotency-key': keyOf(name), ...headers } });
      keys.delete(name);
      return answer;
    } catch (error) {
      if (!mayBeDone(error)) keys.delete(name);
      throw error;
    }
  };
}

/** True when there was no answer, or when the answer does not state the result. */
function mayBeDone(error: unknown): boolean {
  return !isAppError(error) || errorCodes[error.code].retryable;
}
