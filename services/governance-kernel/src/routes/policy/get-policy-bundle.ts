import { AppError } from '@countersign/contracts';
import { getPolicyBundle } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { findBundleOfHash } from '../../store/policy-store.ts';

export const getPolicyBundleRoute = ({ reader }: Context) =>
  handleSystem(getPolicyBundle)(async ({ params: { tenant, policy_hash } }) => {
    const bundle = await findBundleOfHash(reader, tenant, policy_hash);
    if (bundle === null) throw new AppError('NOT_FOUND', 'No bundle with this hash was active for this tenant');
    return { policy_hash, bundle };
  });
