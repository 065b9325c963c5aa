import { deleteDecisionStats } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { forgetCounts } from '../../store/decision-count-store.ts';

export const deleteDecisionStatsRoute = ({ transaction }: Context) =>
  handleSystem(deleteDecisionStats)(async () => {
    await transaction(forgetCounts);
    return { tree_size: 0 };
  });
