import type { Meter } from '@countersign/service-kit';
import type { WitnessContradictions } from './evidence/proof/witness-contradictions.ts';
import type { Reader } from './store/database.ts';
import { countFences, countOpenDispatches, findOldestUnsent, sizeOfLog } from './store/gauge-store.ts';

type Gauged = {
  reader: Reader;
  /** Allowed calls that this process executes and has not settled. */ live: () => number;
  clock: () => Date;
  witnessContradictions: Pick<WitnessContradictions, 'list'>;
};

/**
 * Reports the open work of all tenants. Each gauge is read on request. Gauges from the database are omitted while it is
 * unavailable.
 */
export function gaugeKernel(meter: Meter, { reader, live, clock, witnessContradictions }: Gauged): void {
  const help = 'Allowed calls that this process executes and has not settled.';
  meter.gauge({ name: 'countersign_dispatches_live', help }, live);
  meter.gauge(
    {
      name: 'countersign_dispatches_open',
      help: 'Calls of all replicas without a sealed outcome; counted up to 10,000.',
    },
    () => countOpenDispatches(reader),
  );
  meter.gauge({ name: 'countersign_fences', help: 'Fences in force, counted up to 10,000.' }, () =>
    countFences(reader, clock()),
  );
  meter.gauge({ name: 'countersign_log_receipts', help: 'Receipts in the log.' }, () => sizeOfLog(reader));
  meter.gauge(
    {
      name: 'countersign_witness_contradictions',
      help: 'Witnesses that cosigned a history which the log does not extend.',
    },
    () => witnessContradictions.list().length,
  );
  meter.gauge(
    { name: 'countersign_outbox_oldest_age_seconds', help: 'Age of the oldest event that is not published.' },
    async () => {
      const oldest = await findOldestUnsent(reader);
      return oldest === null ? 0 : Math.max(0, (clock().getTime() - oldest.getTime()) / 1_000);
    },
  );
}
