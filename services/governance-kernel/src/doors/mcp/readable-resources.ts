import { decisionWork, deniedTools } from '@countersign/policy';
import type { Caller } from '../../call/governed-call.ts';
import { isInForce, stopsEveryCall, type FenceRow } from '../../controls/fences/fence-row.ts';
import type { CallableToolsDeps } from './callable-tools.ts';
import { readResource } from './operations.ts';
import { toolAddress } from '../../registry/tool-definition.ts';

export type ReadableResourcesDeps = Pick<CallableToolsDeps, 'activePolicy' | 'now'> & {
  /** The fences around calls of these tools by the caller: of the system, its organisation, its tenant and itself. */
  findFences(caller: Caller, tools: readonly string[]): Promise<readonly FenceRow[]>;
};

type Subscription = { address: string; serverId: string; uri: string };
type Listed = { servers: ReadonlySet<string>; subscriptions: readonly Subscription[] };

/**
 * The addresses of the subscriptions whose resources the caller could read now. `servers` have a read that the caller
 * can list. A fence on the caller stops all reads, and rules may deny single resources.
 */
export async function readableResources(
  { activePolicy, findFences, now }: ReadableResourcesDeps,
  caller: Caller,
  { servers, subscriptions }: Listed,
): Promise<ReadonlySet<string>> {
  const listed = subscriptions.filter(({ serverId }) => servers.has(serverId));
  if (listed.length === 0) return new Set();
  const tools = [...new Set(listed.map(toolOf))];
  const [active, fences] = await Promise.all([activePolicy(caller), findFences(caller, tools)]);
  const nowMs = now();
  const stopping = fences.filter((fence) => stopsEveryCall(fence) && isInForce(fence, nowMs));
  // Fences on single tools were applied to `servers`.
  if (active === null || stopping.some(({ scope }) => !/^(tool|server):/.test(scope))) return new Set();
  const mayRead = (subscription: Subscription) => {
    const [tool, work] = [toolOf(subscription), decisionWork()];
    const call = { principal: caller.principal, tools: [tool], resource: subscription.uri };
    return !deniedTools(active.policy, call, work).has(tool) && !work.isSpent;
  };
  return new Set(listed.filter(mayRead).map(({ address }) => address));
}

function toolOf({ serverId }: Subscription): string {
  return toolAddress({ serverId, toolName: readResource });
}
