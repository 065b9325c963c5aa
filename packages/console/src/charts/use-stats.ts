import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { getDecisionStats, type DecisionStats } from '@countersign/contracts/governance-kernel';
import { workspaceClient } from '../api/clients.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { periods, rangeOf, type PeriodName } from './periods.ts';

const routes = { getDecisionStats };
/** The polling interval. The kernel counts a decision about a second after the decision is made. */
const everyMs = 5_000;

type StatsQuery = NonNullable<
  Parameters<ReturnType<typeof workspaceClient<typeof routes>>['getDecisionStats']>[0]
>['query'];
type Terms = Partial<Omit<NonNullable<StatsQuery>, 'from' | 'to'>> & { before?: number };

/** Counts of decisions in a period that ends now. `before: 1` selects the period before that. */
export function useStats(
  period: PeriodName,
  { before = 0, bucket = periods[period].bucket, ...terms }: Terms,
): UseQueryResult<DecisionStats> {
  const { id } = useWorkspace();
  const client = useMemo(() => workspaceClient(routes, id), [id]);
  return useQuery({
    queryKey: [id, 'receipts', 'stats', period, before, bucket, terms],
    queryFn: async ({ signal }) => {
      const query = {
        by: 'verdict',
        ...terms,
        ...rangeOf(period, Date.now(), { before, bucket }),
        bucket,
      };
      return (await client.getDecisionStats({ query: query as NonNullable<StatsQuery>, signal })).body; // `rangeOf` writes instants
    },
    placeholderData: keepPreviousData,
    refetchInterval: everyMs,
  });
}
