import { repeat, type ClockGuard, type Log, type Repeated } from '@countersign/service-kit';

/** A chart shows a call about a second after its decision. */
const countEveryMs = 1_000;

type DecisionCounterDeps = { count(): Promise<void>; clockGuard: ClockGuard; log: Log };

/** Updates the counters of decisions from the ledger. */
export function startDecisionCounter({ count, clockGuard, log }: DecisionCounterDeps): Repeated {
  return repeat({
    run: count,
    intervalMs: countEveryMs,
    clockGuard,
    onFailure: (error) => log.warn('decision_counter.failed', { error }),
  });
}
