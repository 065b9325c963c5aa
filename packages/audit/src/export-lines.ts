import { setImmediate } from 'node:timers/promises';
import type { AuditExportEnd } from '@countersign/contracts';

type ChainSource = {
  /** The first line: the scope of the chain, and its format. */
  header: object;
  end: AuditExportEnd['end'];
  /** The entries from this position on, oldest first, at most `limit`. */
  listFrom(seq: number, limit: number): Promise<{ seq: number }[]>;
};

const pageEntries = 200;

/**
 * The input of `countersign-verify --audit`, line by line. Memory contains at most one page, and other requests are
 * served between two pages.
 */
export async function* exportLines({ header, end, listFrom }: ChainSource): AsyncGenerator<string> {
  yield lineOf(header);
  for (let next = 1; next <= end.seq;) {
    const entries = await listFrom(next, Math.min(pageEntries, end.seq - next + 1));
    const last = entries.at(-1);
    // An entry that was removed from the log is missing in its export too, so verification detects the removal.
    if (last === undefined) break;
    yield entries.map(lineOf).join('');
    next = last.seq + 1;
    await setImmediate();
  }
  yield lineOf({ end } satisfies AuditExportEnd);
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
