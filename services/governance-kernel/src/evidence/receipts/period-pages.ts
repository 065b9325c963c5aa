import type { PeriodPart, PeriodPlace, PeriodReceipt } from '../../store/period-store.ts';
import type { ChainLink } from '../../store/chain-link.ts';
import { pageLinks } from './proven-lines.ts';

export type PeriodReads = {
  /** The receipts of the period in order of issue, after a place. */
  list(page: { after: PeriodPlace; limit: number }): Promise<PeriodReceipt[]>;
  /** The next links of these parts of sessions, one part after the other. */
  listParts(page: { pieces: readonly PeriodPart[]; limit: number }): Promise<ChainLink[]>;
};

/** The receipts per read. They are read without their texts, so a page can be large. */
const walkedReceipts = 500;

/**
 * The links of a period, one page at a time: sessions in the order in which their parts begin, each part complete
 * before the next. Throws when the ledger lacks entries.
 */
export async function* periodPages(reads: PeriodReads, first: PeriodPlace): AsyncGenerator<ChainLink[]> {
  const walked = { receipts: 0, read: 0 };
  let pieces: PeriodPart[] = [];
  for await (const receipt of walk(reads, first)) {
    walked.receipts += 1;
    if (receipt.begins === null) throw lacking();
    if (!receipt.begins) continue;
    pieces.push({ session: receipt.session, lamport: receipt.lamport });
    for (; pieces.length === pageLinks; pieces = yield* readParts(reads, pieces, walked));
  }
  while (pieces.length > 0) pieces = yield* readParts(reads, pieces, walked);
  if (walked.read !== walked.receipts) throw lacking();
}

async function* walk(reads: PeriodReads, first: PeriodPlace): AsyncGenerator<PeriodReceipt> {
  for (let after: PeriodPlace | undefined = first; after !== undefined;) {
    const receipts: PeriodReceipt[] = await reads.list({ after, limit: walkedReceipts });
    yield* receipts;
    after = receipts.length < walkedReceipts ? undefined : receipts.at(-1)?.place;
  }
}

/** One page of links. Returns the remaining parts. */
async function* readParts(
  reads: PeriodReads,
  pieces: readonly PeriodPart[],
  walked: { read: number },
): AsyncGenerator<ChainLink[], PeriodPart[]> {
  const links = await reads.listParts({ pieces, limit: pageLinks });
  walked.read += links.length;
  if (links.length > 0) yield links;
  const last = links.at(-1);
  if (last === undefined || links.length < pageLinks) return [];
  const at = pieces.findIndex(({ session }) => session === last.session);
  return [{ session: last.session, lamport: last.lamport + 1 }, ...pieces.slice(at + 1)];
}

function lacking(): Error {
  return new Error('The ledger lacks receipts of this period');
}
