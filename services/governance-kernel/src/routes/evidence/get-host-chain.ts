import { getHostChain } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import * as store from '../../store/host-evidence-store.ts';

export const getHostChainRoute = ({ reader }: Context) =>
  handleTenant(getHostChain)(async ({ params, caller: { tenant } }) => {
    const { report, document: chain } = await store.getHostChain(reader, tenant, params.host_chain_id);
    return { report, chain };
  });
