import { createActivationSignature } from '@countersign/contracts/governance-kernel';
import { receiptIdOf, ulidOf } from '@countersign/receipts';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { signActivation } from '../../controls/activations/sign-activation.ts';
import { signatureView } from '../../controls/activations/signature-view.ts';
import { findReceipt } from '../../store/receipt-store.ts';

/** Signs the activation of a policy change that was decided. */
export const createActivationSignatureRoute = (kernel: Context) =>
  handleSystem(createActivationSignature)(async ({ params: { tenant }, body }) => {
    const { decision_id: decisionId, policy_hash: policyHash, report_hash: reportHash, epoch } = body;
    const row = await signActivation(
      {
        ...kernel,
        orgs: kernel.cycle.orgs,
        findDecision: async (of, id) =>
          (await findReceipt(kernel.reader, of, receiptIdOf(ulidOf(id))))?.payload ?? null,
      },
      { tenant, decisionId, policyHash, epoch, reportHash },
    );
    return signatureView(row);
  });
