import { runEnqueued } from '@countersign/contracts/gateway';
import { ack, later, messagingTransaction } from '@countersign/messaging';
import { repeat, type HealthCheck } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { beat } from '../store/worker-heartbeats.ts';
import { gatewayQueues } from '../queues.ts';
import { sweep } from './sweep.ts';
import { workOnDueRun } from '../orchestrator/work-on-run.ts';

type Orchestrator = {
  /** Settles when the queue can deliver for the first time. */
  subscribed: Promise<void>;
  check: HealthCheck;
  stop(): Promise<void>;
};

/** The pause between two sweeps is half a lease within these limits, so it is no busy loop and no long wait. */
const sweepMs = { min: 200, max: 5_000 };

/**
 * A crash, a shutdown and an unavailable database all count as deliveries, and none is a fault of the run. The number
 * of attempts limits runs that kill their workers. With pauses of at most 30 s, this many deliveries last about half
 * an hour.
 */
const maxDeliveries = 100;

/** A gateway with a wrong clock leaves runs in the queue, so gateways with a right clock can claim them. */
const clockPauseMs = 5_000;

/** Claims runs from the queue, as many at a time as there are workers, and sweeps for abandoned runs. */
export function startOrchestrator(context: Context): Orchestrator {
  const { workers, leaseMs } = context.config.runs;
  const stopping = new AbortController();
  let busy = 0;
  const consumer = context.bus.consume({
    queue: gatewayQueues(context.config.bus.exchange).runs,
    events: [runEnqueued],
    transaction: messagingTransaction(context.transaction),
    acts: 'outside-transaction',
    prefetch: workers,
    maxDeliveries,
    handler: async (event, delivery) => {
      if (!(await context.clockGuard.isNear())) return later(clockPauseMs);
      busy += 1;
      const signal = AbortSignal.any([delivery.signal, stopping.signal]);
      await workOnDueRun(context, event.data.runId, signal).finally(() => (busy -= 1));
      return ack;
    },
  });
  let isSubscribed = false;
  const report = async () => {
    if (isSubscribed && !stopping.signal.aborted) await context.transaction(beat);
  };
  // The first heartbeat comes at once, so that a system that has just started does not appear to have no workers.
  void consumer.subscribed
    .then(async () => {
      isSubscribed = true;
      if (await context.clockGuard.isNear()) await report();
    })
    .catch((error: unknown) => context.log.warn('run.report_failed', { error }));
  const pauseMs = Math.min(sweepMs.max, Math.max(sweepMs.min, leaseMs / 2));
  const sweeper = repeat({
    run: async () => {
      // The heartbeat comes before the sweep. If the sweep fails, this gateway can still claim runs.
      await report();
      await sweep(context, { isIdle: busy < workers });
    },
    intervalMs: pauseMs,
    clockGuard: context.clockGuard,
    onFailure: (error) => context.log.warn('run.sweep_failed', { error }),
  });
  return {
    subscribed: consumer.subscribed,
    check: sweeper.check,
    stop: async () => {
      stopping.abort();
      await sweeper.close();
    },
  };
}
