import { expect, it } from '@jest/globals';
import type { TenantId } from '@countersign/contracts';
import { controls } from '../src/controls.ts';
import { wanted } from '../src/ledger/control.ts';
import { KnownFacts } from '../src/ledger/known-facts.ts';
import { toolBlocks } from '../src/controls/policy/tool-blocks.ts';

const tenant = (name: string) => name as TenantId; // matches the schema
const blocksOf = (name: string) => ({ tenant: tenant(name), version: 1, tools: [], updatedAtMs: 0 });
const learn = (answered: string) =>
  new KnownFacts(controls).learn({
    ...{ epoch: { mark: 1, timeline: '00000001' }, chains: [], heads: [], sets: [wanted(toolBlocks, tenant('acme'))] },
    rows: new Map([[toolBlocks.name, [blocksOf(answered)]]]),
  });

it.each([
  ['at another mark', { mark: 2, timeline: '00000001' }],
  ['on another timeline of the server', { mark: 1, timeline: '00000002' }],
])('cached controls are forgotten after a read %s', (_, epoch) => {
  const existing = new KnownFacts(controls);
  const blocks = wanted(toolBlocks, tenant('acme'));
  const read = { chains: [], heads: [], sets: [], rows: new Map() };
  existing.learn({ ...read, epoch: { mark: 1, timeline: '00000001' }, sets: [blocks] });
  existing.learn({ ...read, epoch: { mark: 1, timeline: '00000001' } });
  expect(existing.knows(blocks)).toBe(true);
  existing.learn({ ...read, epoch });
  expect(existing.knows(blocks)).toBe(false);
});

it('a row that was not requested is refused, in case a query lacks the condition for its tenant', () => {
  expect(() => learn('acme')).not.toThrow();
  expect(() => learn('umbrella')).toThrow('tool_blocks, which was not requested');
});
