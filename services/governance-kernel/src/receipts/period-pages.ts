import type { PeriodPart, PeriodPlace, PeriodReceipt } from '../store/period-store.ts';
import type { ChainLink } from '../store/chain-link.ts';
import { pageLinks } from './proven-lines.ts';

export type PeriodReads = {
  /** The receipts of the period in the order of issue, from behind a place on. */
  list(page: { after: PeriodPlace; limit: number }): Promise<PeriodReceipt[]>;
  /** The next links of these parts, one part after the other. */
  listParts(page: { parts: readonly PeriodPart[]; limit: number }): Promise<ChainLink[]>;
};

/** Rows without texts: many are read at once. */
const walkedReceipts = 500;

/**
 * The links of a period, a page at a time: sessions in the order in which their parts begin, each part whole before the next. Throws when
 * the ledger does not hold all that it should.
 */
export async function* periodPages(reads: PeriodReads, first: PeriodPlace): AsyncGenerator<ChainLink[]> {
  const walked = { receipts: 0, read: 0 };
  let parts: PeriodPart[] = [];
  for await (const receipt of walk(reads, first)) {
    walked.receipts += 1;
    if (receipt.begins === null) throw lacking();
    if (!receipt.begins) continue;
    parts.push({ session: receipt.session, lamport: receipt.lamport });
    for (; parts.length === pageLinks; parts = yield* readParts(reads, parts, walked));
  }
  while (parts.length > 0) parts = yield* readParts(reads, parts, walked);
  if (walked.read !== walked.receipts) throw lacking();
}

async function* walk(reads: PeriodReads, first: PeriodPlace): AsyncGenerator<PeriodReceipt> {
  for (let after: PeriodPlace | undefined = first; after !== undefined;) {
    const receipts: PeriodReceipt[] = await reads.list({ after, limit: walkedReceipts });
    yield* receipts;
    after = receipts.length < walkedReceipts ? undefined : receipts.at(-1)?.place;
  }
}

/** One page of links. Gives back what is left to be read of the parts. */
async function* readParts(
  reads: PeriodReads,
  parts: readonly PeriodPart[],
  walked: { read: number },
): AsyncGenerator<ChainLink[], PeriodPart[]> {
  const links = await reads.listParts({ parts, limit: pageLinks });
  walked.read += links.length;
  if (links.length > 0) yield links;
  const last = links.at(-1);
  if (last === undefined || links.length < pageLinks) return [];
  const at = parts.findIndex(({ session }) => session === last.session);
  return [{ session: last.session, lamport: last.lamport + 1 }, ...parts.slice(at + 1)];
}

function lacking(): Error {
  return new Error('The ledger lacks receipts of this period');
}
