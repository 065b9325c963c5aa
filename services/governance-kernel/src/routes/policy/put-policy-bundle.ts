import { putPolicyBundle } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { activationOf } from '../../controls/policy/activation.ts';
import { getActivationTime } from '../../store/policy-store.ts';

/**
 * Activates a bundle for a tenant, or confirms that it is active. The signature authorizes the activation. The bearer
 * token alone does not.
 */
export const putPolicyBundleRoute = ({ policies, reader }: Context) =>
  handleSystem(putPolicyBundle)(async ({ params, body, caller }) => {
    const { tenant } = params;
    const { bundle, epoch, confirmed_at: confirmedAt } = body;
    const { hash } = await policies.activate(activationOf(body, { tenant, by: caller.principal }));
    const activatedAt = await getActivationTime(reader, { tenant, epoch });
    return {
      tenant_id: tenant,
      name: bundle.name,
      version: bundle.version,
      policy_hash: hash,
      epoch,
      activated_at: activatedAt,
      confirmed_at: confirmedAt,
    };
  });
