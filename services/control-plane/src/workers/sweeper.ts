import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { deviceLoginLifetimeMs, endedKeptMs } from '../sessions/lifetimes.ts';
import { tellRefusals } from '../sessions/tell-refusals.ts';
import { forgetAnswers } from '../store/answer-keys.ts';
import type { Tx } from '../store/database.ts';
import { forgetDeviceLogins } from '../store/device-logins.ts';
import { forgetHints } from '../store/hints.ts';
import { forgetHandles } from '../store/evidence-handles.ts';
import { forgetSightings } from '../store/incident-sightings.ts';
import { forgetLogins } from '../store/logins.ts';
import { forgetPlans } from '../store/plans.ts';
import { forgetHours } from '../store/shadow-hours.ts';
import { forgetSessions } from '../store/sessions.ts';
import { forgetTickets } from '../store/tickets.ts';

const passMs = 60_000;
/** The author of an uncommitted plan may look for it on the following day. */
const endedPlansKeptMs = 86_400_000;
/** A page that was disconnected for longer reads everything again. */
const hintsKeptMs = 3_600_000;
/** Older hours are not shown. */
const shadowHoursKeptMs = 7 * 24 * 3_600_000;

/** A fault that persists is reported again after this time. */
const sightingsKeptMs = 90 * 24 * 3_600_000;

const forgotten: readonly { keptMs: number; forget(tx: Tx, before: Date): Promise<void> }[] = [
  { keptMs: 0, forget: forgetAnswers },
  { keptMs: 0, forget: forgetLogins },
  { keptMs: 0, forget: forgetTickets },
  { keptMs: hintsKeptMs, forget: forgetHints },
  { keptMs: deviceLoginLifetimeMs, forget: forgetDeviceLogins },
  { keptMs: endedKeptMs, forget: forgetSessions },
  { keptMs: shadowHoursKeptMs, forget: forgetHours },
  { keptMs: endedKeptMs, forget: forgetHandles },
  { keptMs: sightingsKeptMs, forget: forgetSightings },
  { keptMs: endedPlansKeptMs, forget: forgetPlans },
];

/** Removes rows that are no longer needed, and reports refused logins. */
export function startSweeper(context: Context): { stop(): Promise<void> } {
  const passes = repeat({
    run: () => sweep(context),
    intervalMs: passMs,
    clockGuard: context.clockGuard,
    onFailure: (error) => context.log.warn('sweep.failed', { error }),
  });
  return { stop: passes.close };
}

/** Uses the clock of the database, since rows that a wrong clock removes cannot be restored. */
export async function sweep(context: Context): Promise<void> {
  await tellRefusals(context);
  for (const { keptMs, forget } of forgotten)
    await context.transaction(async (tx) => forget(tx, new Date((await context.databaseNow(tx)).getTime() - keptMs)));
}
