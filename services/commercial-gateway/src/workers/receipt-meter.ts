import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { listOwnedWorkspaces, type OwnedWorkspace } from '../store/orgs.ts';
import { readReceipts } from '../usage/read-receipts.ts';
import { ReadingSchedule } from '../usage/reading-schedule.ts';

const passMs = 5_000;
const pageSize = 500;
/** Concurrent readings. The number is small so that the kernel stays free for decisions. */
const readAtOnce = 4;

/** Counts usage from the receipts of all workspaces that belong to an organisation. */
export function startReceiptMeter(context: Context, intervalMs = passMs): { stop(): Promise<void> } {
  const { log, clockGuard } = context;
  const schedule = new ReadingSchedule();
  const onFailure = (error: unknown) => log.warn('receipt_meter.failed', { error });
  const passes = repeat({ run: () => meterAll(context, schedule), intervalMs, clockGuard, onFailure });
  return { stop: passes.close };
}

/** Reads all due workspaces. Rejects at the end if a reading failed. The `cause` of the error is the first failure. */
async function meterAll(context: Context, schedule: ReadingSchedule): Promise<void> {
  const failures: unknown[] = [];
  let after: OwnedWorkspace['workspaceId'] | null = null;
  for (;;) {
    const page: OwnedWorkspace[] = await listOwnedWorkspaces(context.database.reader, { after, limit: pageSize });
    const due = page.filter(({ workspaceId }) => schedule.isDue(workspaceId, context.now().getTime()));
    await eachAtMost(readAtOnce, due, (owned) =>
      meterOne(context, schedule, owned).catch((error: unknown) => void failures.push(error)),
    );
    after = page.at(-1)?.workspaceId ?? null;
    if (page.length < pageSize) break;
  }
  if (failures.length > 0) throw new Error(`${failures.length} workspaces could not be read`, { cause: failures[0] });
}

/** A workspace that cannot be read is scheduled like an idle one, so that it does not delay other workspaces. */
async function meterOne(context: Context, schedule: ReadingSchedule, owned: OwnedWorkspace): Promise<void> {
  let found = 0;
  try {
    found = await readReceipts(context, owned);
  } finally {
    schedule.plan(owned.workspaceId, { found, nowMs: context.now().getTime() });
  }
}

/** `work` must not reject. */
async function eachAtMost<Item>(most: number, items: Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const workers = Array.from({ length: most }, async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  });
  await Promise.all(workers);
}
