import { setTimeout as delay } from 'node:timers/promises';
import { victims, type Installation, type Victim } from './_installation.ts';
import type { Moments } from './_moments.ts';
import type { Seeded } from './_seeded.ts';

type Strike = { victim: Victim; nth: number; lagMs: number };

const callsBetweenMax = 6;
/**
 * The longest time between the release of a call and a strike. A late strike hits a later step: an outcome, an answer
 * or a commit.
 */
const lagMsMax = 150;

/** Each round strikes every part once, in an order from the seed. */
function plannedStrikes(seeded: Seeded, rounds: number): Strike[] {
  return Array.from({ length: rounds }, () => seeded.shuffled(victims))
    .flat()
    .map((victim) => ({
      victim,
      nth: 1 + seeded.below(callsBetweenMax),
      lagMs: seeded.below(2) === 0 ? 0 : seeded.below(lagMsMax),
    }));
}

export type Struck = { victim: Victim; moment: string; atMs: number };

type Weather = {
  installation: Installation;
  moments: Moments;
  seeded: Seeded;
  /** The number of strikes on each part, if the runs last long enough. */
  rounds: number;
  over: AbortSignal;
};

/**
 * Strikes during one call after the other, until each part was struck as often as planned or the runs are over. A
 * strike waits only for the recovery of the same victim. Each strike is appended to `struck`.
 */
export async function storm({ installation, moments, seeded, rounds, over }: Weather, struck: Struck[]): Promise<void> {
  const beganAtMs = Date.now();
  const ended = new Promise<null>((resolve) => over.addEventListener('abort', () => resolve(null), { once: true }));
  const mended = new Map<Victim, Promise<void>>();
  for (const { victim, nth, lagMs } of plannedStrikes(seeded, rounds)) {
    await mended.get(victim);
    const call = await Promise.race([moments.next(nth), ended]);
    if (call === null) break;
    const moment = lagMs === 0 ? `while a ${call.at} answers` : `${lagMs} ms after a ${call.at} answered`;
    struck.push({ victim, moment, atMs: Date.now() - beganAtMs });
    if (lagMs > 0) {
      call.release();
      await delay(lagMs); // the moment of the strike
    }
    const harm = installation.harms[victim];
    await harm.strike();
    call.release();
    mended.set(victim, Promise.resolve(harm.mend()));
  }
  moments.end();
  await Promise.all(mended.values());
}
