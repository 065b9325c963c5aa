import { confirmActivation } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { renewActivation } from '../../controls/activations/renew-activation.ts';
import { signatureView } from '../../controls/activations/signature-view.ts';
import { findBundle, findSignature } from '../../store/policy-store.ts';

/** Confirms the bundle of a decision. */
export const confirmActivationRoute = (kernel: Context) =>
  handleSystem(confirmActivation)(async ({ params: { tenant }, body: { decision_id: decisionId }, caller }) => {
    const { policies, signers, clock, reader } = kernel;
    const store = {
      findSignature: (of: typeof tenant, id: typeof decisionId) => findSignature(reader, of, id),
      findBundle: (of: typeof tenant, epoch: number) => findBundle(reader, of, epoch),
    };
    const deps = { policies, signers, clock, ...store };
    return signatureView(await renewActivation(deps, { tenant, decisionId, by: caller.principal }));
  });
