import { hostEvidenceNotice, listHostDrift } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import * as store from '../../store/host-evidence-store.ts';

export const listHostDriftRoute = ({ reader }: Context) =>
  handleTenant(listHostDrift)(async ({ query, caller: { tenant } }) => {
    const { kind, host_chain_id: chainId, limit, cursor } = query;
    const page = await store.listHostDrift(reader, tenant, { filter: { kind, chainId }, page: { limit, cursor } });
    return { ...page, enforcement: false as const, notice: hostEvidenceNotice };
  });
