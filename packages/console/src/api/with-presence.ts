import { isAppError } from '@countersign/contracts';
import { askPresence } from './presence.ts';

type Call = (input?: never) => Promise<unknown>;

/**
 * Repeats an act after a fresh proof of presence. If the last proof is too old for an act (RFC 9470), the person is
 * asked for another one and the act is sent again. Each attempt has its own deadline. If the person cancels, the caller
 * gets the refusal.
 */
export function withPresence<Calls extends object>(calls: Calls): Calls {
  const asking = Object.entries<Call>(calls as Record<string, Call>).map(([name, call]) => [name, repeated(call)]); // a client has only calls
  return Object.fromEntries(asking) as Calls; // has the same keys as `calls`
}

function repeated(call: Call): Call {
  return async (input) => {
    try {
      return await call(input);
    } catch (error) {
      if (!isTooOld(error) || !(await askPresence())) throw error;
      return call(input);
    }
  };
}

function isTooOld(error: unknown): boolean {
  return isAppError(error) && error.code === 'REAUTHENTICATION_REQUIRED';
}
