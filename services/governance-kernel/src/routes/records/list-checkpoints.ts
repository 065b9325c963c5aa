import { listCheckpoints } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { withCosignatures } from '../../store/with-cosignatures.ts';
import { pageOf } from '../../evidence/receipts/page.ts';
import * as store from '../../store/checkpoint-store.ts';

/** The log is shared by all tenants, and so are its checkpoints. */
export const listCheckpointsRoute = ({ reader, provider }: Context) =>
  handleTenant(listCheckpoints)(({ query: { limit, cursor }, caller: { tenant } }) =>
    pageOf(
      provider,
      { list: 'checkpoints', tenant },
      { limit, cursor },
      {
        load: async ({ limit: count, before }) => {
          const checkpoints = await store.listCheckpoints(reader, { limit: count, beforeSize: before });
          return Promise.all(checkpoints.map((checkpoint) => withCosignatures({ reader, provider }, checkpoint)));
        },
        placeOf: ({ tree_size }) => tree_size,
      },
    ),
  );
