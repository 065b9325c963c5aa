import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { forgetAnswers } from '../store/answer-keys.ts';

const passMs = 60_000;

/** Removes expired answers, by the clock of the database. */
export function startSweeper({ log, clockGuard, database, databaseNow }: Context): { stop(): Promise<void> } {
  const passes = repeat({
    run: () => database.transaction(async (tx) => forgetAnswers(tx, await databaseNow(tx))),
    intervalMs: passMs,
    clockGuard,
    onFailure: (error) => log.warn('sweep.failed', { error }),
  });
  return { stop: passes.close };
}
