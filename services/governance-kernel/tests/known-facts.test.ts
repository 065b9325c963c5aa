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
    ...{ epoch: 1, chains: [], heads: [], sets: [wanted(toolBlocks, tenant('acme'))] },
    rows: new Map([[toolBlocks.name, [blocksOf(answered)]]]),
  });

it('a row that was not asked for is refused: a select has lost the condition of its tenant', () => {
  expect(() => learn('acme')).not.toThrow();
  expect(() => learn('umbrella')).toThrow('tool_blocks that nobody wanted');
});
