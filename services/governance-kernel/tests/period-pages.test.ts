import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { periodLines } from '../src/evidence/receipts/period-lines.ts';
import type { PeriodReads } from '../src/evidence/receipts/period-pages.ts';

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
 * Exports a period from a ledger that returns these entries by time and by chain. Returns the error that ends the
 * export.
 */
async function grant(byTime: ReturnType<typeof walked>[], byChain: ReturnType<typeof link>[]): Promise<string> {
  const reads = {
    list: () => Promise.resolve(byTime),
    listParts: () => Promise.resolve(byChain),
  } as unknown as PeriodReads; // only the members that are read, with unbranded strings
  const deps = {
    ...{ provider: nodeProvider, newReader: () => () => Promise.reject(new Error('one leaf has no sibling')), reads },
    witnesses: { checkpoints: [], sizeFor: () => 1 },
    state: () => Promise.reject(new Error('stated')),
  };
  const period = { tenant: 'acme', from: issuedAt, to: issuedAt };
  const log = { as_of: issuedAt, log_size: 1, log_root: 'sha256:' };
  const lines = periodLines(deps, period as never, log as never); // as above
  try {
    for await (const line of lines) expect(line).toMatch(/\n$/);
    return 'ended';
  } catch (error) {
    return String(error);
  }
}

describe('the export of a period that the ledger returns by time and by chain', () => {
  it('ends with its statement only if both lists agree, and otherwise breaks off before the statement', async () => {
    expect(await grant([walked(1, true), walked(2, false)], [link(1), link(2)])).toBe('Error: stated');
    expect(await grant([walked(1, true), walked(2, false)], [link(1)])).toContain('lacks receipts of this period');
    expect(await grant([walked(1, true)], [link(1), link(2)])).toContain('lacks receipts of this period');
    expect(await grant([walked(1, true), walked(2, false)], [link(1), link(3)])).toContain('lacks links of this chain');
    expect(await grant([walked(1, true), walked(3, null)], [link(1), link(3)])).toContain(
      'lacks receipts of this period',
    );
  });
});
