import { importHostChain } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import * as evidence from '../../evidence/host-evidence/import-chain.ts';
import * as store from '../../store/host-evidence-store.ts';

export const importHostChainRoute = (kernel: Context) =>
  handleTenant(importHostChain)(async ({ body: { chain, keys }, caller: { tenant, principal: by } }) => {
    const { reader } = kernel;
    const deps: evidence.ImportDeps = {
      ...kernel,
      sealed: {
        decisions: (period) => store.sealedDecisions(reader, tenant, period),
        outcomes: (period) => store.sealedOutcomes(reader, tenant, period),
        findDecisions: (ids) => store.findDecisions(reader, tenant, ids),
        settings: (of) => store.sealedSettings(reader, tenant, of),
      },
      findImport: (hash) => store.findHostImport(reader, tenant, hash),
      isReceiptKnown: (hash) => store.isHostReceiptKnown(reader, tenant, hash),
    };
    return await evidence.importHostChain(deps, { tenant, by, chain, keys });
  });
