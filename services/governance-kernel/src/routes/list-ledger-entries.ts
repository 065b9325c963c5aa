import { listLedgerEntries } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleSystem } from '../handle.ts';
import { listEntries, listEntriesFrom } from '../store/record-store.ts';

export const listLedgerEntriesRoute = ({ reader }: Context) =>
  handleSystem(listLedgerEntries)(async ({ params: { tenant }, query: { below = null, from, limit } }) => ({
    data:
      from === undefined
        ? await listEntries(reader, tenant, { limit, before: below })
        : await listEntriesFrom(reader, tenant, { from, below, limit }),
  }));
