import { expect, it } from '@jest/globals';
import type { WorkspaceId } from '@countersign/contracts';
import { OpsTarget } from '@countersign/contracts/control-plane';
import { BoundaryTargets } from '@countersign/contracts/governance-kernel';
import { knownTarget } from '../src/ops/known-target.ts';

const workspaceId = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV' as WorkspaceId; // in the format of the services
const targets = BoundaryTargets.parse({
  agents: [{ principal_id: 'crawler', calls_last_7d: 7 }],
  tools: [
    { tool: 'crm.read', calls_last_7d: 2 },
    { tool: 'crm__read', calls_last_7d: 1 },
  ],
  ...{ servers: [{ server_id: 'crm', calls_last_7d: 3 }], calls_last_7d: 12, is_whole: true },
});

it.each<[string, boolean, number]>([
  [`workspace:${workspaceId}`, true, 12],
  ['agent:crawler', true, 7],
  ['agent:CRAWLER', true, 7],
  ['agent:crawlr', false, 0],
  [`agent:agent:${workspaceId}`, true, 0],
  ['tool:crm.read', true, 3],
  ['tool:crm.raed', false, 0],
  ['tool:crawler', false, 0],
  ['connector:crm', true, 3],
  ['connector:crmm', false, 0],
])('%s is known: %p, with %i calls', (target, isKnown, calls_last_7d) => {
  expect(knownTarget(OpsTarget.parse(target), targets, workspaceId)).toEqual({ known: isKnown, calls_last_7d });
});

it('a name that is missing from an incomplete list is not reported as unknown', () => {
  const some = { ...targets, is_whole: false };
  const messages = ['tool:crm.raed', 'tool:crm.read'].map((name) =>
    knownTarget(OpsTarget.parse(name), some, workspaceId),
  );
  expect(messages.map(({ known }) => known)).toEqual([null, true]);
});
