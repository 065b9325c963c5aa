import { UserId } from '@countersign/contracts';
import { shownTargetsMax, type BoundaryTargets } from '@countersign/contracts/governance-kernel';

/** Counts of calls per principal and tool. */
type CountedCalls = { principal: string; tool: string | null; calls: number };

type Names = {
  agents: readonly string[];
  tools: readonly string[];
  servers: readonly string[];
  counted: readonly CountedCalls[];
  /** Whether every call of the period was counted. */
  areAllCounted: boolean;
};

/** The possible targets of a stop with their calls, busiest first. Calls of people do not count. */
export function boundaryTargets({ agents, tools, servers, counted, areAllCounted }: Names): BoundaryTargets {
  const calls = counted.filter(({ principal }) => !UserId.safeParse(principal).success);
  const ofTools = calls.flatMap(({ tool, ...rest }) => (tool === null ? [] : [{ tool, ...rest }]));
  const serverOf = (tool: string) => servers.find((id) => tool.startsWith(`${id}.`));
  const byAgent = totals(agents, calls, ({ principal }) => principal);
  const byTool = totals(tools, ofTools, ({ tool }) => tool);
  const byServer = totals(servers, ofTools, ({ tool }) => serverOf(tool));
  return {
    agents: busiest(byAgent).map(([name, count]) => ({
      principal_id: name as BoundaryTargets['agents'][number]['principal_id'], // the ledger has no other names
      calls_last_7d: count,
    })),
    tools: busiest(byTool).map(([tool, count]) => ({ tool, calls_last_7d: count })),
    servers: busiest(byServer).map(([server_id, count]) => ({ server_id, calls_last_7d: count })),
    calls_last_7d: calls.reduce((sum, { calls: count }) => sum + count, 0),
    is_whole: areAllCounted && [byAgent, byTool, byServer].every(({ size }) => size <= shownTargetsMax),
  };
}

function totals<Counted extends { calls: number }>(
  existing: readonly string[],
  counted: readonly Counted[],
  nameOf: (of: Counted) => string | undefined,
): Map<string, number> {
  const sums = new Map(existing.map((name) => [name, 0]));
  for (const each of counted) {
    const name = nameOf(each);
    if (name !== undefined) sums.set(name, (sums.get(name) ?? 0) + each.calls);
  }
  return sums;
}

function busiest(sums: ReadonlyMap<string, number>): [string, number][] {
  const order = ([left, few]: [string, number], [right, many]: [string, number]) =>
    many - few || (left < right ? -1 : 1);
  return [...sums].sort(order).slice(0, shownTargetsMax);
}
