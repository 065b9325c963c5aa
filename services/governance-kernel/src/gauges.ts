import type { Meter } from '@countersign/service-kit';
import type { Reader } from './store/database.ts';
import { countFences, countOpenDispatches, findOldestUnsent, sizeOfLog } from './store/gauge-store.ts';

type Gauged = {
  reader: Reader;
  /** Calls that this process sent and has not settled. */ live: () => number;
  clock: () => Date;
};

/** The open work of all tenants. Each is read on request, and left out while the database is away. */
export function gaugeKernel(meter: Meter, { reader, live, clock }: Gauged): void {
  const help = 'Calls that this process sent and has not settled.';
  meter.gauge({ name: 'countersign_dispatches_live', help }, live);
  meter.gauge(
    {
      name: 'countersign_dispatches_open',
      help: 'Calls of all replicas without a sealed outcome; counted up to 10,000.',
    },
    () => countOpenDispatches(reader),
  );
  meter.gauge({ name: 'countersign_fences', help: 'Fences that stand; counted up to 10,000.' }, () =>
    countFences(reader, clock()),
  );
  meter.gauge({ name: 'countersign_log_receipts', help: 'Receipts in the log.' }, () => sizeOfLog(reader));
  meter.gauge(
    { name: 'countersign_outbox_oldest_age_seconds', help: 'Age of the oldest event that is not published.' },
    async () => {
      const oldest = await findOldestUnsent(reader);
      return oldest === null ? 0 : Math.max(0, (clock().getTime() - oldest.getTime()) / 1_000);
    },
  );
}
