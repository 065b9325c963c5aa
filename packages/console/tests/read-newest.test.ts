import { describe, expect, it } from '@jest/globals';
import { readNewest, withOlder, type Lasting } from '../src/workspace/read-newest.ts';

type Row = { id: string };
const rows = (...ids: string[]): Row[] => ids.map((id) => ({ id }));

/** A list in pages of two, newest first; `reads` are the cursors that were requested. */
function listOf(...ids: string[]) {
  const reads: (string | null)[] = [];
  const readPage = (cursor: string | null) => {
    reads.push(cursor);
    const from = cursor === null ? 0 : Number(cursor);
    const to = from + 2;
    return Promise.resolve({ items: rows(...ids.slice(from, to)), next: to < ids.length ? String(to) : null });
  };
  return { reads, readPage };
}

const lasting: Lasting<Row> = { items: rows('d', 'c', 'b'), next: '3', newer: 1 };

describe('a list that only grows at its front', () => {
  it('starts with its newest page', async () => {
    const { readPage, reads } = listOf('c', 'b', 'a');
    expect(await readNewest(readPage, () => undefined)).toEqual({ items: rows('c', 'b'), next: '2', newer: 0 });
    expect(reads).toEqual([null]);
  });

  it('reads pages up to the first known item, and keeps its older items and its cursor', async () => {
    const { readPage, reads } = listOf('g', 'f', 'e', 'd', 'c', 'b', 'a');
    const list = await readNewest(readPage, () => lasting);
    expect(list).toEqual({ items: rows('g', 'f', 'e', 'd', 'c', 'b'), next: '3', newer: 4 });
    expect(reads).toEqual([null, '2']);
  });

  it('stays the same object when nothing is new', async () => {
    expect(await readNewest(listOf('d', 'c').readPage, () => lasting)).toBe(lasting);
  });

  it('starts again when too many items are new', async () => {
    const many = Array.from({ length: 20 }, (_, nth) => `new-${nth}`);
    const { readPage, reads } = listOf(...many, 'd');
    expect(await readNewest(readPage, () => lasting)).toEqual({
      items: rows(...many.slice(0, 10)),
      next: '10',
      newer: 0,
    });
    expect(reads).toHaveLength(5);
  });

  it('stops at an item that became known while a page was being read', async () => {
    let newest: Lasting<Row> | undefined;
    const { readPage } = listOf('e', 'd');
    const list = await readNewest(
      async (cursor) => {
        const page = await readPage(cursor);
        newest = lasting;
        return page;
      },
      () => newest,
    );
    expect(list).toEqual({ items: rows('e', 'd', 'c', 'b'), next: '3', newer: 2 });
  });

  it('grows at its end only by the page at its cursor', () => {
    expect(withOlder(lasting, '3', { items: rows('a'), next: null })).toEqual({
      ...{ items: rows('d', 'c', 'b', 'a'), next: null, newer: 1 },
    });
    expect(withOlder(lasting, '2', { items: rows('a'), next: null })).toBe(lasting);
  });
});
