import { errorCodes, isAppError, type AnyRoute } from '@countersign/contracts';

type Input = { params?: unknown; query?: unknown; body?: unknown; headers?: Record<string, string> };
type Call = (input?: Input) => Promise<unknown>;

/** A later act is no repetition, and must not show the result of the first one. */
const keptMs = 120_000;

/**
 * The same calls, for pages: an act whose answer was lost keeps its Idempotency-Key for two minutes, so that a person
 * who sends it again does it once. An answer, a refusal too, ends the key: the same form sent after that is meant. A
 * key that the caller sets is kept.
 */
export function withKeys<Calls extends object>(
  routes: Record<string, AnyRoute>,
  calls: Calls,
  nowMs = () => performance.now(),
): Calls {
  const keyed = Object.entries<Call>(calls as Record<string, Call>).map(([name, call]) => [
    name,
    routes[name]?.idempotency === 'key' ? keptUntilAnswered(call, nowMs) : call,
  ]); // a client is calls alone
  return Object.fromEntries(keyed) as Calls; // built from the same keys in the line above
}

function keptUntilAnswered(call: Call, nowMs: () => number): Call {
  const keys = new Map<string, { key: string; madeAtMs: number }>();
  const keyOf = (name: string): string => {
    const known = keys.get(name);
    if (known !== undefined && nowMs() - known.madeAtMs < keptMs) return known.key;
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

/** There was no answer, or the answer did not state the result. */
function mayBeDone(error: unknown): boolean {
  return !isAppError(error) || errorCodes[error.code].retryable;
}
