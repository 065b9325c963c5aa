import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { endedKeptMs } from '../sessions/lifetimes.ts';
import { forgetLogins } from '../store/logins.ts';
import { forgetSessions } from '../store/sessions.ts';

const passMs = 60_000;

/** Removes what has been over for long. */
export function startSweeper(context: Context): { stop(): Promise<void> } {
  const passes = repeat({
    run: () => sweep(context),
    intervalMs: passMs,
    onFailure: (error) => context.log.warn('sweep.failed', { error }),
  });
  return { stop: passes.close };
}

async function sweep({ now, transaction }: Context): Promise<void> {
  const at = now();
  await transaction((tx) => forgetLogins(tx, at));
  await transaction((tx) => forgetSessions(tx, { before: new Date(at.getTime() - endedKeptMs), now: at }));
}
