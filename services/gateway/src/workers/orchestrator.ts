import { runEnqueued } from '@countersign/contracts/gateway';
import { ack, messagingTransaction } from '@countersign/messaging';
import { repeat, type HealthCheck } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { gatewayQueues } from '../queues.ts';
import { sweep } from './sweep.ts';
import { workOnRun } from '../orchestrator/work-on-run.ts';

type Orchestrator = {
  /** Settles when the queue delivers for the first time. */
  subscribed: Promise<void>;
  check: HealthCheck;
  stop(): Promise<void>;
};

/** The bounds of the pause between two sweeps: half a lease, but neither a busy loop nor a long wait. */
const sweepMs = { min: 200, max: 5_000 };

/**
 * A crash, a shutdown and a database that is away all count as deliveries, and none of them is the run's fault. A run that
 * takes its workers down itself is given up by its attempts. With pauses of at most 30 s, this many deliveries last about half
 * an hour.
 */
const maxDeliveries = 100;

/** Takes runs from the queue, as many at a time as there are workers, and sweeps for those that were left behind. */
export function startOrchestrator(context: Context): Orchestrator {
  const { workers, leaseMs } = context.config.runs;
  const stopping = new AbortController();
  const consumer = context.bus.consume({
    queue: gatewayQueues(context.config.bus.exchange).runs,
    events: [runEnqueued],
    transaction: messagingTransaction(context.transaction),
    acts: 'outside-transaction',
    prefetch: workers,
    maxDeliveries,
    handler: async (event, delivery) => {
      await workOnRun(context, event.data.runId, AbortSignal.any([delivery.signal, stopping.signal]));
      return ack;
    },
  });
  const pauseMs = Math.min(sweepMs.max, Math.max(sweepMs.min, leaseMs / 2));
  const sweeper = repeat({
    run: () => sweep(context),
    intervalMs: pauseMs,
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
