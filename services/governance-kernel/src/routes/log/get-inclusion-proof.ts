import { getInclusionProof } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { foundReceipt } from '../../evidence/proof/found-receipt.ts';
import { findReceipt } from '../../store/receipt-store.ts';

export const getInclusionProofRoute = ({ reader, proveReceipt }: Context) =>
  handleTenant(getInclusionProof)(async ({ query: { receipt_id }, caller: { tenant } }) =>
    proveReceipt(foundReceipt(await findReceipt(reader, tenant, receipt_id))),
  );
