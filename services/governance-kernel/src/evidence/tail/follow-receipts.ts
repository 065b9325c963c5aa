import { startDeadline, type TenantId } from '@countersign/contracts';
import type { Checkpoint, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { LogFeed, LogWatch } from './log-watch.ts';

/**
 * The state of a stream: the first log index that it has not sent, and the largest tree whose checkpoint it has sent.
 */
export type StreamPlace = { next: number; checkpointed: number };

type FollowedScope = { tenant: TenantId; session?: string | undefined; agent?: string | undefined };

export type TailItem =
  | { kind: 'receipt'; receipt: StoredReceipt; place: StreamPlace }
  | { kind: 'checkpoint'; checkpoint: Checkpoint; place: StreamPlace }
  /** The store did not answer. The stream continues at the same place when the store answers again. */
  | { kind: 'fault'; code: 'STORE_UNAVAILABLE' };

const pageMax = 200;
const retryMs = 1_000;

/**
 * All entries of a scope after a place, in the order of the log, each once, without end. The reader sets the pace: a
 * slow one falls back from memory to the database and loses nothing. A checkpoint comes after all receipts that it
 * covers.
 */
export async function* followReceipts(
  watch: LogWatch,
  feed: LogFeed,
  { scope, start, signal }: { scope: FollowedScope; start: StreamPlace; signal: AbortSignal },
): AsyncGenerator<TailItem> {
  let place = start;
  let outages = watch.outages;
  while (!signal.aborted) {
    const page = await nextPage(watch, feed, { scope, place });
    if (page === null || watch.outages > outages) yield { kind: 'fault', code: 'STORE_UNAVAILABLE' };
    outages = watch.outages;
    if (page === null) {
      await watch.changed(startDeadline({ ms: retryMs, signal }).signal);
      continue;
    }
    yield* page.items;
    place = page.place;
    // Checked synchronously before waiting. Otherwise, a wake-up between the check and the wait would be missed.
    if (hasReached(place, watch.reach) && watch.outages === outages) await watch.changed(signal);
  }
}

type Page = { items: TailItem[]; place: StreamPlace };

function hasReached({ next, checkpointed }: StreamPlace, reach: LogWatch['reach']): boolean {
  return next >= reach.size && checkpointed >= reach.checkpointed;
}

/** The entries after a place, up to one page. `null` when the store does not answer. */
async function nextPage(
  watch: LogWatch,
  feed: LogFeed,
  { scope, place }: { scope: FollowedScope; place: StreamPlace },
): Promise<Page | null> {
  try {
    const { reach } = watch;
    if (place.next < reach.size) return await receiptsAfter(watch, feed, { scope, place });
    if (place.checkpointed < reach.checkpointed) return await checkpointsAfter(watch, feed, place);
    return { items: [], place };
  } catch {
    return null; // the watch uses the same store and reports the outage
  }
}

async function receiptsAfter(
  { reach, view }: LogWatch,
  feed: LogFeed,
  { scope, place }: { scope: FollowedScope; place: StreamPlace },
): Promise<Page> {
  const recent = feed.receipts.since(place.next);
  if (recent !== null) {
    const receipts = recent.map(({ item }) => item).filter((receipt) => isInScope(receipt, scope));
    return receiptPage(receipts, { ...place, next: reach.size });
  }
  const { tenant, session, agent: principal } = scope;
  const range = { from: place.next, below: reach.size, limit: pageMax };
  const receipts = await view.listSealed({ tenants: [tenant], session, principal }, range);
  const last = receipts.length < pageMax ? undefined : receipts.at(-1);
  return receiptPage(receipts, { ...place, next: last === undefined ? reach.size : last.log_index + 1 });
}

function receiptPage(receipts: readonly StoredReceipt[], place: StreamPlace): Page {
  const items = receipts.map((receipt) => ({
    kind: 'receipt' as const,
    receipt,
    place: { ...place, next: receipt.log_index + 1 },
  }));
  return { items, place };
}

function isInScope({ payload }: StoredReceipt, { tenant, session, agent }: FollowedScope): boolean {
  if (payload.tenant_id !== tenant) return false;
  if (session !== undefined && payload.session_id !== session) return false;
  return agent === undefined || payload.principal_id === agent;
}

async function checkpointsAfter({ view, reach }: LogWatch, feed: LogFeed, place: StreamPlace): Promise<Page> {
  const recent = feed.checkpoints.since(place.checkpointed + 1);
  const found = recent?.map(({ item }) => item) ?? (await view.listCheckpointsAbove(place.checkpointed, pageMax));
  const covered = found.filter(({ tree_size }) => tree_size <= place.next);
  const items = covered.map((checkpoint) => ({
    kind: 'checkpoint' as const,
    checkpoint,
    place: { ...place, checkpointed: checkpoint.tree_size },
  }));
  return { items, place: { ...place, checkpointed: covered.at(-1)?.tree_size ?? reach.checkpointed } };
}
