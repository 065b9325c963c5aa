import { toolOfFunctionName } from '@countersign/contracts';
import { deniedTools, fenceScopesOfTool } from '@countersign/policy';
import type { AccessKeyRow } from '../access-keys/access-keys.ts';
import type { Caller } from '../call/governed-call.ts';
import { isInForce, stopsEveryCall, type FenceRow } from '../fences/fence-row.ts';
import { holdsOneOf } from '../policy/block-tools.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import type { ToolBlocksRow } from '../policy/tool-blocks.ts';
import type { ListedTool } from './gateway.ts';

/** The stops that deny each call of a tool, by the current rows of the database. */
export type ToolStops = {
  blocks: ToolBlocksRow | null;
  /** The key that the caller came with. */
  key: Pick<AccessKeyRow, 'tools'> | null;
  /** The fences of the tools and their servers. */
  fences: readonly FenceRow[];
};

export type CallableToolsParts = {
  findStops(caller: Caller, tools: readonly string[]): Promise<ToolStops>;
  /** The policy that is active now. `null` when there is none. */
  activePolicy(caller: Caller): Promise<LoadedPolicy | null>;
  now(): number;
};

/** Why a tool is not listed. The first cause that applies is counted. */
type Cause = 'stopped' | 'blocked' | 'scope' | 'policy';

type CallableTools = { listed: ListedTool[]; notListed: Record<Cause, number> & { total: number } };

/**
 * The tools that this caller could call with some arguments. Only a tool whose every call is denied now is left out.
 * Its server or the tool is stopped, the workspace blocks it, the key is made for others, or the rules deny it whatever
 * its arguments. Stops of tenants and agents leave nothing out, since each refusal names them.
 */
export async function callableTools(
  { findStops, activePolicy, now }: CallableToolsParts,
  caller: Caller,
  tools: readonly ListedTool[],
): Promise<CallableTools> {
  const names = tools.map(({ tool }) => tool);
  const [stops, active] = await Promise.all([findStops(caller, names), activePolicy(caller)]);
  const nowMs = now();
  const fenced = new Set(
    stops.fences.filter((fence) => stopsEveryCall(fence) && isInForce(fence, nowMs)).map(({ scope }) => scope),
  );
  const denied = active === null ? null : deniedTools(active.policy, { principal: caller.principal, tools: names });
  const causeOf = (tool: string): Cause | null => {
    if (fenceScopesOfTool(caller.tenant, tool).some((scope) => fenced.has(scope))) return 'stopped';
    if (stops.blocks !== null && holdsOneOf(stops.blocks, [tool])) return 'blocked';
    if (stops.key?.tools?.includes(toolOfFunctionName(tool)) === false) return 'scope';
    return denied?.has(tool) === true ? 'policy' : null;
  };
  const notListed = { total: 0, stopped: 0, blocked: 0, scope: 0, policy: 0 };
  const listed = tools.filter(({ tool }) => {
    const cause = causeOf(tool);
    if (cause === null) return true;
    notListed.total += 1;
    notListed[cause] += 1;
    return false;
  });
  return { listed, notListed };
}
