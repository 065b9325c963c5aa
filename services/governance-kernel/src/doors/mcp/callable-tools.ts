import { toolOfFunctionName } from '@countersign/contracts';
import { deniedTools, fenceScopesOfTool } from '@countersign/policy';
import type { AccessKeyRow } from '../../controls/access-keys/access-keys.ts';
import type { Caller } from '../../call/governed-call.ts';
import { isInForce, stopsEveryCall, type FenceRow } from '../../controls/fences/fence-row.ts';
import { holdsOneOf } from '../../controls/policy/block-tools.ts';
import type { LoadedPolicy } from '../../controls/policy/loaded-policy.ts';
import type { ToolBlocksRow } from '../../controls/policy/tool-blocks.ts';
import type { ListedTool } from './gateway.ts';

/** The stops that deny each call of a tool, by the current rows of the database. */
export type ToolStops = {
  blocks: ToolBlocksRow | null;
  /** The access key of the caller. `null` without one. */
  key: Pick<AccessKeyRow, 'tools'> | null;
  /** The fences of the tools and their servers. */
  fences: readonly FenceRow[];
};

export type CallableToolsDeps = {
  findStops(caller: Caller, tools: readonly string[]): Promise<ToolStops>;
  /** The policy that is active now. `null` when there is none. */
  activePolicy(caller: Caller): Promise<LoadedPolicy | null>;
  now(): number;
};

/** The reason why a tool is not listed. The first one that applies is counted. */
type Cause = 'stopped' | 'blocked' | 'scope' | 'policy';

type CallableTools = { listed: ListedTool[]; notListed: Record<Cause, number> & { total: number } };

/**
 * The tools that this caller could call with some arguments. A tool is omitted only if each of its calls would be
 * denied now. The cause is a fence on the tool or its server, or a block by the workspace. It may also be a key that is
 * limited to other tools, or rules that deny any arguments. Fences of tenants and agents omit no tools, since the
 * refusal of each call states them.
 */
export async function callableTools(
  { findStops, activePolicy, now }: CallableToolsDeps,
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
