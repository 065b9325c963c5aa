import { listCheckpoints } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { pageOf } from '../receipts/page.ts';
import * as store from '../store/checkpoint-store.ts';

/** The log is one for all tenants, and so are its checkpoints. */
export const listCheckpointsRoute = ({ reader, provider }: Context) =>
  handleTenant(listCheckpoints)(({ query: { limit, cursor }, caller: { tenant } }) =>
    pageOf(
      provider,
      { list: 'checkpoints', tenant },
      { limit, cursor },
      {
        load: ({ limit: count, before }) => store.listCheckpoints(reader, { limit: count, beforeSize: before }),
        placeOf: ({ tree_size }) => tree_size,
      },
    ),
  );
