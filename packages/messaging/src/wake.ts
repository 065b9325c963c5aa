import type { Clock } from './clock.ts';

/** An interruptible pause of a loop. A poke between two waits ends the next wait at once. */
export type Wake = { poke(): void; wait(ms: number): Promise<void> };

export function createWake(clock: Clock): Wake {
  let poked = false;
  let pause: AbortController | undefined;
  return {
    poke() {
      poked = true;
      pause?.abort();
    },
    async wait(ms) {
      if (!poked) {
        pause = new AbortController();
        await clock.sleep(ms, pause.signal);
        pause = undefined;
      }
      poked = false;
    },
  };
}
