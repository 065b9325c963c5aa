import { expect, it } from '@jest/globals';
import type { TenantId } from '@countersign/contracts';
import { controls } from '../src/controls.ts';
import { wanted } from '../src/ledger/control.ts';
import { KnownFacts } from '../src/ledger/known-facts.ts';
import { toolBlocks } from '../src/policy/tool-blocks.ts';

const tenant = (name: string) => name as TenantId; // within its schema
const blocksOf = (name: string) => ({ tenant: tenant(name), version: 1, tools: [], updatedAtMs: 0 });
const learn = (answered: string) =>
  new KnownFacts(controls).learn({
    ...{ epoch: { mark: 1, timeline: '00000001' }, chains: [], heads: [], sets: [wanted(toolBlocks, tenant('acme'))] },
    rows: new Map([[toolBlocks.name, [blocksOf(answered)]]]),
  });

it.each([
  ['by another mark', { mark: 2, timeline: '00000001' }],
  ['on another timeline of the server', { mark: 1, timeline: '00000002' }],
])('controls are forgotten when they are read %s', (_, epoch) => {
  const known = new KnownFacts(controls);
  const blocks = wanted(toolBlocks, tenant('acme'));
  const read = { chains: [], heads: [], sets: [], rows: new Map() };
  known.learn({ ...read, epoch: { mark: 1, timeline: '00000001' }, sets: [blocks] });
  known.learn({ ...read, epoch: { mark: 1, timeline: '00000001' } });
  expect(known.knows(blocks)).toBe(true);
  known.learn({ ...read, epoch });
  expect(known.knows(blocks)).toBe(false);
});

it('a row that was not asked for is refused: a select has lost the condition of its tenant', () => {
  expect(() => learn('acme')).not.toThrow();
  expect(() => learn('umbrella')).toThrow('tool_blocks, which was not requested');
});
