import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { deviceLoginLifetimeMs, endedKeptMs } from '../sessions/lifetimes.ts';
import { tellRefusals } from '../sessions/tell-refusals.ts';
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
/** Whoever drafted a plan that nobody committed looks for it on the day after. */
const endedPlansKeptMs = 86_400_000;
/** Who was away for longer reads everything anew. */
const hintsKeptMs = 3_600_000;
/** Nobody is shown hours that are further back. */
const shadowHoursKeptMs = 7 * 24 * 3_600_000;

/** What still is wrong after so long is seen again. */
const sightingsKeptMs = 90 * 24 * 3_600_000;

/** Removes what has been over for long. */
export function startSweeper(context: Context): { stop(): Promise<void> } {
  const passes = repeat({
    run: () => sweep(context),
    intervalMs: passMs,
    onFailure: (error) => context.log.warn('sweep.failed', { error }),
  });
  return { stop: passes.close };
}

export async function sweep(context: Context): Promise<void> {
  const { now, transaction } = context;
  const at = now();
  await tellRefusals(context);
  await transaction((tx) => forgetLogins(tx, at));
  await transaction((tx) => forgetTickets(tx, at));
  await transaction((tx) => forgetHints(tx, new Date(at.getTime() - hintsKeptMs)));
  await transaction((tx) => forgetDeviceLogins(tx, new Date(at.getTime() - deviceLoginLifetimeMs)));
  await transaction((tx) => forgetSessions(tx, new Date(at.getTime() - endedKeptMs)));
  await transaction((tx) => forgetHours(tx, new Date(at.getTime() - shadowHoursKeptMs)));
  await transaction((tx) => forgetHandles(tx, new Date(at.getTime() - endedKeptMs)));
  await transaction((tx) => forgetSightings(tx, new Date(at.getTime() - sightingsKeptMs)));
  await transaction((tx) => forgetPlans(tx, new Date(at.getTime() - endedPlansKeptMs)));
}
