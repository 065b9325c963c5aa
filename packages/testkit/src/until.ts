import { setTimeout as delay } from 'node:timers/promises';

/** For clients of a test, which ends by its own deadline: how long an answer takes says how busy the machine is. */
export const patienceMs = 600_000;

/** Far beyond what a machine under load needs, so that only what never comes is given up. */
const withinMsDefault = 100_000;
const pollMs = 20;

/** Reads a state that the product shows until it is as wanted, and returns it. The failure contains the last state. */
export async function reaching<State>(
  read: () => State | Promise<State>,
  isReached: (state: State) => boolean,
  { withinMs = withinMsDefault }: { withinMs?: number } = {},
): Promise<State> {
  const deadline = performance.now() + withinMs; // ends a wait that has no other end
  for (;;) {
    const state = await read();
    if (isReached(state)) return state;
    // Ends the wait, see above.
    if (performance.now() > deadline)
      throw new Error(`Not reached in ${withinMs} ms. Last seen: ${JSON.stringify(state)}`);
    await delay(pollMs); // between two looks at the state
  }
}

/** Polls until `holds` is true. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await reaching(holds, (isSo) => isSo);
}

/** Polls until `holds` is true. A rejection counts as "not yet": what is asked may be away. */
export async function untilReachable(holds: () => Promise<boolean>, withinMs?: number): Promise<void> {
  const bound = withinMs === undefined ? {} : { withinMs };
  await reaching(
    () => holds().catch((error: unknown) => String(error)),
    (state) => state === true,
    bound,
  );
}

/** Asks until there is an answer, and returns it. */
export async function untilAnswered<Answer>(ask: () => Promise<Answer | null | undefined | false>): Promise<Answer> {
  const answer = await reaching(ask, (state) => Boolean(state));
  return answer as Answer; // what was reached is no other
}
