import { bucketMinutes, getDecisionStats } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { bucketRange, decisionStats, spanOf } from '../../evidence/receipts/decision-stats.ts';
import { readCounts } from '../../store/decision-count-store.ts';

export const getDecisionStatsRoute = ({ reader, clock }: Context) =>
  handleTenant(getDecisionStats)(async ({ query, caller: { tenant } }) => {
    const { by, verdict, agent, tool, reason_code: reason, effect_level: effect } = query;
    const range = bucketRange(query, clock());
    const counted = await readCounts(reader, tenant, {
      ...{ by, filter: { verdict, agent, tool, reason, effect } },
      ...{ fromMs: range.fromMs, toMs: range.toMs },
      ...{ bucketMinutes: bucketMinutes[query.bucket], spanMinutes: spanOf[query.bucket] },
    });
    return decisionStats(range, counted);
  });
