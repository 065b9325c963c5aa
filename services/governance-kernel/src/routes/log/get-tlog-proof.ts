import { getTlogProof } from '@countersign/contracts/governance-kernel';
import { receiptTlogProof } from '@countersign/verifier';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { foundReceipt } from '../../evidence/proof/found-receipt.ts';
import { findReceipt } from '../../store/receipt-store.ts';

export const getTlogProofRoute = ({ reader, provider, proveReceipt }: Context) =>
  handleTenant(getTlogProof)(async ({ query: { receipt_id }, caller: { tenant } }) => {
    const receipt = foundReceipt(await findReceipt(reader, tenant, receipt_id));
    const proof = await proveReceipt(receipt);
    const inclusion = { ...proof, checkpoint: proof.checkpoint.note };
    return { receipt_id, tlog_proof: receiptTlogProof(receipt, inclusion, provider) };
  });
