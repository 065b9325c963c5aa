import { PrincipalId, type WorkspaceId } from '@countersign/contracts';
import { agentOf } from '@countersign/contracts';
import type { GivenCommand, OpsTarget } from '@countersign/contracts/control-plane';
import type { BoundaryTargets } from '@countersign/contracts/governance-kernel';
import { meaningOf, samePerson } from '@countersign/policy';
import { partsOf } from './target.ts';

type Basis = Pick<GivenCommand, 'known' | 'calls_last_7d'>;

/** Whether the kernel knows the target, and the number of its calls in the last 7 days. */
export function knownTarget(target: OpsTarget, targets: BoundaryTargets, workspaceId: WorkspaceId): Basis {
  const { kind, name } = partsOf(target);
  if (kind === 'workspace') return { known: true, calls_last_7d: targets.calls_last_7d };
  const calls = callsOf({ kind, name }, targets);
  const isKnown = calls.length > 0 || (kind === 'agent' && name === agentOf(workspaceId));
  const calls_last_7d = calls.reduce((sum, count) => sum + count, 0);
  return { known: isKnown || (targets.is_whole ? false : null), calls_last_7d };
}

type Named = Pick<ReturnType<typeof partsOf>, 'kind' | 'name'>;

/**
 * The number of calls of each agent, tool or server with this name. Names of agents and tools are compared like names
 * of fences, so that all their spellings match.
 */
function callsOf({ kind, name }: Named, { agents, tools, servers }: BoundaryTargets): number[] {
  const named = {
    workspace: [],
    agent: agents.filter(({ principal_id }) => samePerson(principal_id, PrincipalId.parse(name))),
    tool: tools.filter(({ tool }) => meaningOf(tool) === meaningOf(name)),
    connector: servers.filter(({ server_id }) => server_id === name),
  };
  return named[kind].map(({ calls_last_7d }) => calls_last_7d);
}
