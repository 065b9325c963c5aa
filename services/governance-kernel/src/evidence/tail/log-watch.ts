import type { TenantId } from '@countersign/contracts';
import type { Checkpoint, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { Log } from '@countersign/service-kit';
import type { LogReach } from '../../store/log-store.ts';
import type { LogRange, SealedScope } from '../../store/receipt-store.ts';
import { RecentItems } from './recent-items.ts';
import { WakeUps } from './wake-ups.ts';

/** The readers' view of the log. Reads of receipts name their tenants. */
export type LogView = {
  getReach(): Promise<LogReach>;
  listSealed(scope: SealedScope, range: LogRange): Promise<StoredReceipt[]>;
  /** Checkpoints of trees larger than `size`, smallest first. */
  listCheckpointsAbove(size: number, limit: number): Promise<Checkpoint[]>;
};

/** One reader's view of what is new for its tenant. */
export type LogFeed = {
  /** The state of the log when the feed was opened. */
  opened: LogReach;
  receipts: RecentItems<StoredReceipt>;
  /** The new checkpoints. Their places are the sizes of their trees. */
  checkpoints: RecentItems<Checkpoint>;
  release(): void;
};

/** The longest delay before commits of other replicas are seen. */
const lookEveryMs = 1_000;
/** Under load, commits come every few milliseconds. Readers need not wake up more often than this. */
const restMs = 20;
const pageReceiptsMax = 500;
const pageCheckpointsMax = 100;

/**
 * Follows the log once for all streams of this process. Local commits wake it at once, and a timer covers the commits
 * of other replicas.
 */
export class LogWatch {
  readonly view: LogView;
  readonly #log: Log;
  readonly #readers = new WakeUps();
  readonly #commits = new WakeUps();
  readonly #tenants = new Map<TenantId, { receipts: RecentItems<StoredReceipt>; readers: number }>();
  #reach: LogReach = { size: 0, checkpointed: 0 };
  #checkpoints = new RecentItems<Checkpoint>(0);
  #outages = 0;
  #isDown = false;
  #isClosed = false;
  #running: Promise<void> | null = null;

  constructor({ view, log }: { view: LogView; log: Log }) {
    this.view = view;
    this.#log = log;
  }

  /** The end of the readable log. */
  get reach(): LogReach {
    return this.#reach;
  }

  /** Increases each time that the store stops answering. */
  get outages(): number {
    return this.#outages;
  }

  /** Call it after a local commit. */
  noticeCommit(): void {
    this.#commits.wakeAll();
  }

  /** Resolves when there may be new entries, or when the reader leaves. */
  changed(signal: AbortSignal): Promise<void> {
    return this.#readers.wait({ signal });
  }

  /** Rejects when the store does not answer. */
  async open(tenant: TenantId): Promise<LogFeed> {
    const opened = await this.view.getReach();
    if (this.#running === null) this.#beginAt(opened);
    const feed = this.#tenants.get(tenant) ?? { receipts: new RecentItems(this.#reach.size), readers: 0 };
    feed.readers += 1;
    this.#tenants.set(tenant, feed);
    this.#running ??= this.#run();
    const release = () => {
      feed.readers -= 1;
      if (feed.readers === 0) this.#tenants.delete(tenant);
    };
    return { opened, receipts: feed.receipts, checkpoints: this.#checkpoints, release };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#commits.wakeAll();
    this.#readers.wakeAll();
    await this.#running;
  }

  /** Begins at the end of the log. There was no reader before, so no reader waits for earlier entries. */
  #beginAt(opened: LogReach): void {
    this.#reach = opened;
    this.#checkpoints = new RecentItems(opened.checkpointed + 1);
  }

  async #run(): Promise<void> {
    while (!this.#isClosed && this.#tenants.size > 0) {
      const committed = this.#commits.wait({ timeoutMs: lookEveryMs });
      await this.#look();
      await pause(this.#isDown ? lookEveryMs : restMs);
      await committed;
    }
    this.#running = null;
  }

  async #look(): Promise<void> {
    try {
      const reach = await this.view.getReach();
      while (this.#reach.size < reach.size) await this.#readReceipts(reach.size);
      while (this.#reach.checkpointed < reach.checkpointed) await this.#readCheckpoints(reach.checkpointed);
      this.#isDown = false;
    } catch (error) {
      if (!this.#isDown) this.#reportOutage(error);
    }
  }

  async #readReceipts(size: number): Promise<void> {
    const fed = new Map(this.#tenants);
    const range = { from: this.#reach.size, below: size, limit: pageReceiptsMax };
    const sealed = await this.view.listSealed({ tenants: [...fed.keys()] }, range);
    const last = sealed.length < pageReceiptsMax ? undefined : sealed.at(-1);
    const below = last === undefined ? size : last.log_index + 1;
    for (const [tenant, feed] of this.#tenants) {
      // A feed that was opened while this page was read lacks the page, and must not appear complete.
      if (fed.get(tenant) === feed) feed.receipts.append(placedOf(tenant, sealed));
      else feed.receipts.forgetBefore(below);
    }
    this.#reach = { ...this.#reach, size: below };
    this.#readers.wakeAll();
  }

  async #readCheckpoints(checkpointed: number): Promise<void> {
    const found = await this.view.listCheckpointsAbove(this.#reach.checkpointed, pageCheckpointsMax);
    this.#checkpoints.append(found.map((checkpoint) => ({ at: checkpoint.tree_size, item: checkpoint })));
    this.#reach = { ...this.#reach, checkpointed: found.at(-1)?.tree_size ?? checkpointed };
    this.#readers.wakeAll();
  }

  #reportOutage(error: unknown): void {
    this.#isDown = true;
    this.#outages += 1;
    this.#log.warn('log_watch.failed', { error });
    this.#readers.wakeAll();
  }
}

function placedOf(tenant: TenantId, receipts: readonly StoredReceipt[]) {
  return receipts
    .filter(({ payload }) => payload.tenant_id === tenant)
    .map((receipt) => ({ at: receipt.log_index, item: receipt }));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
