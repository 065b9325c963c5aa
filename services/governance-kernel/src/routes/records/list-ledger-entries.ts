import { listLedgerEntries, type LedgerEntry } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { createLogReader } from '../../evidence/proof/log-reader.ts';
import { findEarlyWitnesses } from '../../evidence/proof/witnesses.ts';
import { logSource } from '../../store/log-source.ts';
import { listEntries, listEntriesFrom } from '../../store/record-store.ts';

export const listLedgerEntriesRoute = (context: Context) =>
  handleSystem(listLedgerEntries)(async ({ params: { tenant }, query: { below = null, from, limit } }) => ({
    data: await witnessed(
      context,
      from === undefined
        ? await listEntries(context.reader, tenant, { limit, before: below })
        : await listEntriesFrom(context.reader, tenant, { from, below, limit }),
    ),
  }));

async function witnessed(
  { reader, provider, headsBy, publishedKeys }: Context,
  entries: readonly Omit<LedgerEntry, 'witness'>[],
): Promise<LedgerEntry[]> {
  const receipts = entries.map(({ receipt }) => receipt);
  const keys = await publishedKeys.list();
  const { findBefore } = headsBy(keys);
  const nodes = createLogReader(provider, logSource(reader));
  const witnesses = await findEarlyWitnesses(receipts, keys, { provider, nodes, findBefore });
  return entries.map((entry, nth) => ({ ...entry, witness: witnesses[nth] ?? null }));
}
