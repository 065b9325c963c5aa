import type { AuditEntry } from '@countersign/contracts/gateway';
import type { LogWatch } from './log-watch.ts';

type Followed = {
  workspaceId: string;
  /** The last place that the follower has seen. */
  after: number;
  watch: Pick<LogWatch, 'goesOn'>;
  listFrom(seq: number, limit: number): Promise<AuditEntry[]>;
  signal: AbortSignal;
};

const pageEntries = 200;

/** Yields every entry after `after`, each once and in order, until `signal` aborts. The reader sets the pace. */
export async function* followLog({
  workspaceId,
  after,
  watch,
  listFrom,
  signal,
}: Followed): AsyncGenerator<AuditEntry> {
  let seq = after;
  while (!signal.aborted) {
    const entries = await listFrom(seq + 1, pageEntries);
    yield* entries;
    seq = entries.at(-1)?.seq ?? seq;
    if (entries.length < pageEntries) await watch.goesOn({ workspaceId, seq }, signal);
  }
}
