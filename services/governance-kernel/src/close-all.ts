import type { Telemetry } from '@countersign/service-kit';

type Closing = { telemetry: Telemetry } & Record<
  'logWatch' | 'ledger' | 'judge' | 'exports' | 'database',
  { close(): Promise<void> }
>;

/** Closes the parts in this order, since each may still need the parts after it. */
export async function closeAll({ logWatch, ledger, telemetry, judge, exports, database }: Closing): Promise<void> {
  await logWatch.close();
  await ledger.close();
  await telemetry.close(); // its gauges are read a last time
  await judge.close();
  await exports.close();
  await database.close();
}
