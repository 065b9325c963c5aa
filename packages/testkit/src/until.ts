import { setTimeout as delay } from 'node:timers/promises';

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
    if (performance.now() > deadline)
      throw new Error(`Not reached in ${withinMs} ms. Last seen: ${JSON.stringify(state)}`);
    await delay(pollMs); // between two looks at the state
  }
}

/** Polls until `holds` is true. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  await reaching(holds, (isSo) => isSo);
}
