import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { exportLines } from '../src/evidence/receipts/export-lines.ts';
import { periodPages, type PeriodReads } from '../src/evidence/receipts/period-pages.ts';

const issuedAt = '2026-03-01T09:00:00.000Z';
const link = (lamport: number) => ({
  ...{ session: 's', lamport, logIndex: 0, receiptHash: `sha256:${'0'.repeat(64)}` },
  ...{ payload: '{}', keyId: 'key', signature: 'x', record: null },
});
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

describe('an export', () => {
  it('reads a session page by page, and only the requested range', async () => {
    const requests: [number, number][] = [];
    const entry = { payloadText: '{}', signature: { key_id: 'key', value: 'x' }, recordText: '{}' };
    const deps = {
      ...{ provider: nodeProvider, newReader: () => () => Promise.reject(new Error('one leaf has no sibling')) },
      ...{ witnesses: { checkpoints: [], sizeFor: () => 1 }, head: { entry, logIndex: 0 } },
      listPage: (from: number, limit: number) => {
        requests.push([from, limit]);
        return Promise.resolve(numbers(from, limit).map(link));
      },
    };
    let receipts = 0;
    for await (const lines of exportLines(deps as never, { from: 3, to: 42 }))
      // only the members that the code reads
      receipts += lines.split('{"receipt":').length - 1;
    expect(receipts).toBe(41); // 40 receipts and the head
    expect(requests).toEqual([
      [3, 16],
      [19, 16],
      [35, 8],
    ]);
  });

  it('lists the receipts of a period in pages, and reads them in smaller pages', async () => {
    const [walked, read]: unknown[][] = [[], []];
    const reads = {
      list: ({ after, limit }: { after: { logIndex: number }; limit: number }) => {
        walked?.push([after.logIndex, limit]);
        const remaining = numbers(after.logIndex + 1, Math.min(limit, 700 - after.logIndex));
        return Promise.resolve(
          remaining.map((at) => ({ session: 's', lamport: at, begins: at === 1, place: { issuedAt, logIndex: at } })),
        );
      },
      listParts: ({ pieces: [segment], limit }: { pieces: { lamport: number }[]; limit: number }) => {
        const from = segment?.lamport ?? 0;
        read?.push(limit);
        return Promise.resolve(numbers(from, Math.min(limit, 701 - from)).map(link));
      },
    } as unknown as PeriodReads; // only the members that the code reads
    const sizes: number[] = [];
    for await (const links of periodPages(reads, { issuedAt, logIndex: 0 } as never)) sizes.push(links.length); // as above
    expect(walked).toEqual([
      [0, 500],
      [500, 500],
    ]);
    expect([new Set(read), Math.max(...sizes), sizes.reduce((sum, size) => sum + size)]).toEqual([
      new Set([16]),
      16,
      700,
    ]);
  });
});
