import { setTimeout as delay } from 'node:timers/promises';

/**
 * The limit of a wait or of a request in a test. A loaded machine needs far less, so only a wait that would never end
 * reaches it.
 */
export const patienceMs = 600_000;
const pollMs = 20;

/** Reads a state repeatedly until it is as expected, and returns it. The error contains the last state. */
export async function reaching<State>(
  read: () => State | Promise<State>,
  isReached: (state: State) => boolean,
): Promise<State> {
  const deadline = performance.now() + patienceMs; // without a limit, this wait could last forever
  for (;;) {
    const state = await read();
    if (isReached(state)) return state;
    // The deadline from above ends the wait.
    if (performance.now() > deadline)
      throw new Error(`Not reached in ${patienceMs} ms. Last seen: ${JSON.stringify(state)}`);
    await delay(pollMs); // between two reads of the state
  }
}

/** Polls until `holds` is true. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await reaching(holds, (isSo) => isSo);
}

/** Polls until `holds` is true. A rejection counts as false, because the service may be unreachable. */
export async function untilReachable(holds: () => Promise<boolean>): Promise<void> {
  await reaching(
    () => holds().catch((error: unknown) => String(error)),
    (state) => state === true,
  );
}

/** Calls `ask` repeatedly until it returns a value, and returns that value. */
export async function untilAnswered<Answer>(ask: () => Promise<Answer | null | undefined | false>): Promise<Answer> {
  const answer = await reaching(ask, (state) => Boolean(state));
  return answer as Answer; // the loop ends only with a value
}
