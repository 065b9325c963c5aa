import { listEnvelopes } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { manifestView } from '../../evidence/envelopes/manifest.ts';
import { handleTenant } from '../../handle.ts';
import * as store from '../../store/envelope-store.ts';

export const listEnvelopesRoute = ({ reader }: Context) =>
  handleTenant(listEnvelopes)(({ query: { tenant_id: _tenant, ...page }, caller: { tenant } }) =>
    store.listEnvelopes(reader, tenant, { page, item: manifestView }),
  );
