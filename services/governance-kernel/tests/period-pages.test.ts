import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { periodLines } from '../src/receipts/period-lines.ts';
import type { PeriodReads } from '../src/receipts/period-pages.ts';

const issuedAt = '2026-03-01T09:00:00.000Z';
const walked = (lamport: number, begins: boolean | null) => ({
  ...{ session: 's', lamport, begins },
  place: { issuedAt, logIndex: lamport },
});
const link = (lamport: number) => ({
  ...{ session: 's', lamport, logIndex: 0, receiptHash: `sha256:${'0'.repeat(64)}` },
  ...{ payload: '{}', keyId: 'key', signature: 'x', record: null },
});

/**
 * The exported lines when the ledger, walked by time and by chain, has these entries. `end` stands for the statement.
 */
async function given(byTime: ReturnType<typeof walked>[], byChain: ReturnType<typeof link>[]): Promise<string> {
  const reads = {
    list: () => Promise.resolve(byTime),
    listParts: () => Promise.resolve(byChain),
  } as unknown as PeriodReads; // branded by the schema
  const parts = {
    ...{ provider: nodeProvider, newReader: () => () => Promise.reject(new Error('one leaf has no sibling')), reads },
    witnesses: { checkpoints: [], sizeFor: () => 1 },
    state: () => Promise.reject(new Error('stated')),
  };
  const period = { tenant: 'acme', from: issuedAt, to: issuedAt };
  const log = { as_of: issuedAt, log_size: 1, log_root: 'sha256:' };
  const lines = periodLines(parts, period as never, log as never); // as above
  try {
    for await (const line of lines) expect(line).toMatch(/\n$/);
    return 'ended';
  } catch (error) {
    return String(error);
  }
}

describe('a period that the ledger tells in two ways', () => {
  it('is stated where both say the same, and else breaks off before its statement', async () => {
    expect(await given([walked(1, true), walked(2, false)], [link(1), link(2)])).toBe('Error: stated');
    expect(await given([walked(1, true), walked(2, false)], [link(1)])).toContain('lacks receipts of this period');
    expect(await given([walked(1, true)], [link(1), link(2)])).toContain('lacks receipts of this period');
    expect(await given([walked(1, true), walked(2, false)], [link(1), link(3)])).toContain('lacks links of this chain');
    expect(await given([walked(1, true), walked(3, null)], [link(1), link(3)])).toContain(
      'lacks receipts of this period',
    );
  });
});
