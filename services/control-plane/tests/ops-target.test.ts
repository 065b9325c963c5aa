import { expect, it } from '@jest/globals';
import type { PrincipalId } from '@countersign/contracts';
import { OpsTarget } from '@countersign/contracts/control-plane';
import { covers } from '../src/ops/target.ts';

const call = { requested_by: 'Crawler' as PrincipalId, tool: 'crm__read' }; // the schema accepts this text

it.each<[string, boolean]>([
  ['workspace:wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV', true],
  ['agent:Crawler', true],
  ['agent:crawler', true],
  ['agent:crawlers', false],
  ['tool:crm.read', true],
  ['tool:crm.rea', false],
  ['connector:crm', true],
  ['connector:cr', false],
])('%s covers the call of an approval: %p', (target, covered) => {
  expect(covers(OpsTarget.parse(target), call)).toBe(covered);
});
