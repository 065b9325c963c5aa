import { isAppError } from '@countersign/contracts';
import { askPresence } from './presence.ts';

type Call = (input?: never) => Promise<unknown>;

/**
 * The same calls, for pages. If the last proof of presence is too old for an act (RFC 9470), the person is asked for
 * another, and the act is sent again. Each attempt has a deadline of its own, so there is no hurry. Who gives it up
 * gets the refusal.
 */
export function withPresence<Calls extends object>(calls: Calls): Calls {
  const asking = Object.entries<Call>(calls as Record<string, Call>).map(([name, call]) => [name, repeated(call)]); // a client is calls alone
  return Object.fromEntries(asking) as Calls; // built from the same keys in the line above
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
