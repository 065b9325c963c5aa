import { instantOf, AppError } from '@countersign/contracts';
import { getPolicyInForce } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { ceilingsView } from '../../controls/policy/ceilings-view.ts';
import { findCeilings } from '../../store/ceiling-store.ts';
import { findInForce } from '../../store/policy-store.ts';

export const getPolicyInForceRoute = ({ reader }: Context) =>
  handleSystem(getPolicyInForce)(async ({ params: { tenant } }) => {
    const inForce = await findInForce(reader, tenant);
    if (inForce === null) throw new AppError('NOT_FOUND', 'No bundle is active for this tenant');
    const { head, bundle, nextEpoch } = inForce;
    const ceilings = await Promise.all([findCeilings(reader, tenant), findCeilings(reader, '*')]);
    return {
      tenant_id: tenant,
      owner: head.tenant,
      policy_hash: head.hash,
      epoch: head.epoch,
      confirmed_at: instantOf(head.confirmedAtMs),
      bundle,
      next_epoch: nextEpoch,
      ceilings: ceilings.flatMap((row) => (row === null ? [] : ceilingsView(row).rules)),
    };
  });
