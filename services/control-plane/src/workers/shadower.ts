import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { countRecords } from '../shadows/count-records.ts';
import { deliverLane } from '../shadows/deliver-lane.ts';
import { listReadings } from '../store/shadow-hours.ts';
import { listUndelivered } from '../store/shadow-lanes.ts';

const passMs = 1_000;
const atOnceMax = 100;

/**
 * Delivers lanes that the kernel does not have yet, and counts the verdicts of their drafts. Every replica may run it
 * at the same time.
 */
export function startShadower(context: Context): { stop(): Promise<void> } {
  const passes = repeat({
    run: () => pass(context),
    intervalMs: passMs,
    clockGuard: context.clockGuard,
    onFailure: (error) => context.log.warn('shadows.failed', { error }),
  });
  return { stop: passes.close };
}

async function pass(context: Context): Promise<void> {
  const { database, now } = context;
  for (const lane of await listUndelivered(database.reader, now(), atOnceMax)) await deliverLane(context, lane);
  const before = new Date(now().getTime() - passMs);
  for (const reading of await listReadings(database.reader, before, atOnceMax)) await countRecords(context, reading);
}
