import { jsonDifferences } from '@countersign/contracts';
import { listToolDrift, type ToolDrift } from '@countersign/contracts/control-plane';
import { listRegisteredTools, type RegisteredTool } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { answerOf } from '../../siblings/answer-of.ts';

export const listToolDriftRoute = ({ kernel }: Context) =>
  handleWorkspace(listToolDrift)(async ({ caller, query, signal }) => {
    const client = kernel.as(caller.assertion, { listRegisteredTools });
    const tools = await answerOf('kernel', () => client.listRegisteredTools({ query, signal }));
    return { ...tools, data: tools.data.map(driftOf) };
  });

const statuses = { in_sync: 'in_sync', drifted: 'drifted', unpinned: 'unknown' } as const;

function driftOf({ tool, server_id, pin, pinned_hash, observed_hash, ...definitions }: RegisteredTool): ToolDrift {
  return {
    ...{ tool, server_id, expected_hash: pinned_hash, observed_hash, status: statuses[pin] },
    diff: pin === 'unpinned' ? null : diffOf(pin, definitions),
  };
}

function diffOf(
  pin: 'in_sync' | 'drifted',
  { definition, observed_definition: observed }: Pick<RegisteredTool, 'definition' | 'observed_definition'>,
): ToolDrift['diff'] {
  if (pin === 'in_sync') return [];
  return definition === null || observed === null ? null : jsonDifferences(definition, observed);
}
