import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@countersign/service-kit';
import type { Digest, TenantId } from '@countersign/contracts';
import type { Checkpoint, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { followReceipts } from '../src/evidence/tail/follow-receipts.ts';
import { LogWatch, type LogView } from '../src/evidence/tail/log-watch.ts';

const tenants = ['left', 'right'] as TenantId[];

/** A log in memory whose reads have different delays and return the content from before the delay. */
class LateLog implements LogView {
  readonly receipts: StoredReceipt[] = [];
  readonly checkpoints: Checkpoint[] = [];
  #turns = 7;

  append(count: number): void {
    for (let added = 0; added < count; added += 1) this.receipts.push(receiptAt(this.receipts.length));
  }

  sign(): void {
    this.checkpoints.push({ tree_size: this.receipts.length } as Checkpoint); // only the size is read
  }

  getReach() {
    return this.#late({ size: this.receipts.length, checkpointed: this.checkpoints.at(-1)?.tree_size ?? 0 });
  }

  listSealed(
    scope: Parameters<LogView['listSealed']>[0],
    { from, below, limit }: Parameters<LogView['listSealed']>[1],
  ) {
    const range = this.receipts.slice(from, below);
    return this.#late(range.filter(({ payload }) => scope.tenants.includes(payload.tenant_id)).slice(0, limit));
  }

  listCheckpointsAbove(size: number, limit: number) {
    return this.#late(this.checkpoints.filter(({ tree_size }) => tree_size > size).slice(0, limit));
  }

  async #late<Value>(value: Value): Promise<Value> {
    this.#turns = (this.#turns * 31 + 11) % 17;
    for (let turn = 0; turn < this.#turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return value;
  }
}

function receiptAt(index: number): StoredReceipt {
  const payload = { tenant_id: tenants[index % 2] };
  return { payload, log_index: index, receipt_hash: '' as Digest } as unknown as StoredReceipt; // only the tenant and the log index are read
}

type Heard = { from: number; tenant: TenantId; indexes: number[]; checkpoints: number[] };

/** Follows the log until the reader has received all of its receipts among the first `until` of the log. */
async function listen(watch: LogWatch, { tenant, until }: { tenant: TenantId; until: number }): Promise<Heard> {
  const leave = new AbortController();
  const feed = await watch.open(tenant);
  const heard: Heard = { from: feed.opened.size, tenant, indexes: [], checkpoints: [] };
  const start = { next: feed.opened.size, checkpointed: feed.opened.checkpointed };
  const last = until - 1 - (tenants[(until - 1) % 2] === tenant ? 0 : 1);
  if (feed.opened.size > last) leave.abort(); // the log grew beyond `last` while the feed was opened
  for await (const item of followReceipts(watch, feed, { scope: { tenant }, start, signal: leave.signal })) {
    if (item.kind === 'receipt') heard.indexes.push(item.receipt.log_index);
    if (item.kind === 'checkpoint') heard.checkpoints.push(item.checkpoint.tree_size);
    if ((heard.indexes.at(-1) ?? -1) >= last) break;
  }
  feed.release();
  return heard;
}

describe('the watch of the log', () => {
  it('delivers each receipt once and in order to readers that come and go, for bursts of any size', async () => {
    const log = new LateLog();
    const watch = new LogWatch({ view: log, log: createLogger({ service: 'test', silent: true }) });
    const bursts = [3, 700, 1, 1_600, 40, 5, 900, 2, 250, 1_200, 60, 30];
    const total = bursts.reduce((sum, burst) => sum + burst, 10);
    log.append(10);
    const readers: Promise<Heard>[] = [];
    for (const [round, burst] of bursts.entries()) {
      for (const tenant of tenants) readers.push(listen(watch, { tenant, until: total }));
      // Short-lived readers open and close feeds while pages are read.
      readers.push(listen(watch, { tenant: 'left' as TenantId, until: log.receipts.length + burst }));
      for (let turn = 0; turn < round * 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      log.append(burst);
      log.sign();
      watch.noticeCommit();
    }
    for (const { from, tenant, indexes, checkpoints } of await Promise.all(readers)) {
      const end = (indexes.at(-1) ?? 0) + 1;
      const expected = log.receipts.slice(from, end).filter(({ payload }) => payload.tenant_id === tenant);
      expect(indexes).toEqual(expected.map(({ log_index }) => log_index));
      expect(checkpoints).toEqual([...new Set(checkpoints)].sort((a, b) => a - b));
    }
    await watch.close();
  });
});
