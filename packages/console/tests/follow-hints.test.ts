import { beforeEach, describe, expect, it } from '@jest/globals';
import { QueryClient } from '@tanstack/react-query';
import type { WorkspaceId } from '@countersign/contracts';
import { followHints } from '../src/live/follow-hints.ts';

const here = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV' as WorkspaceId;
const elsewhere = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAW';
/** The first query has hint types, the second has none, and the others have no entry in the table. */
const ofHere = ['approvals', 'governance', 'budgets', 'snapshot'];

let queries: QueryClient;
let hints: ReturnType<typeof followHints>;

beforeEach(() => {
  queries = new QueryClient();
  hints = followHints(queries, here);
  readAll();
});

/** Marks everything as just read. */
function readAll(): void {
  for (const what of ofHere) queries.setQueryData([here, what], {});
  queries.setQueryData([elsewhere, 'approvals'], {});
}

const staleOf = (workspaceId: string) =>
  queries
    .getQueryCache()
    .findAll({ predicate: ({ state, queryKey: [whose] }) => whose === workspaceId && state.isInvalidated })
    .map(({ queryKey: [, what] }) => what);

const hear = (type: string, seq: number) =>
  hints.hear(JSON.stringify({ v: 1, seq, type, workspace_id: here, ref: null, version: null }));

describe('hints of the socket', () => {
  it('refresh only the affected queries while no hint is missing', () => {
    hear('ready', 7);
    expect(staleOf(here)).toEqual(ofHere);
    readAll();
    hear('approval', 8);
    expect(staleOf(here)).toEqual(['approvals', 'budgets', 'snapshot']);
    readAll();
    hear('budget', 9);
    expect(staleOf(here)).toEqual(['budgets', 'snapshot']);
  });

  it('refresh nothing of another workspace', () => {
    hear('ready', 7);
    hear('approval', 8);
    hear('approval', 10);
    hints.reach(12);
    expect(staleOf(elsewhere)).toEqual([]);
  });

  it('refresh everything after a gap', () => {
    hear('ready', 7);
    readAll();
    hear('task', 9);
    expect(staleOf(here)).toEqual(ofHere);
    readAll();
    hear('approval', 10);
    expect(staleOf(here)).not.toContain('governance');
  });

  it('refresh nothing when they are repeated', () => {
    hear('ready', 7);
    hear('approval', 8);
    readAll();
    hear('approval', 8);
    hear('approval', 7);
    expect(staleOf(here)).toEqual([]);
  });

  it.each(['', 'null', '{', '{"v":2}', '[]'])('refresh everything when one is malformed: %j', (text) => {
    hear('ready', 7);
    readAll();
    hints.hear(text);
    expect(staleOf(here)).toEqual(ofHere);
    readAll();
    // The malformed hint has no place in the sequence of hints, so the next hint counts as a gap.
    hear('approval', 8);
    expect(staleOf(here)).toEqual(ofHere);
  });

  it('refresh everything but the snapshot when the snapshot is ahead of them', () => {
    hints.reach(9);
    expect(staleOf(here)).toEqual([]);
    hear('ready', 7);
    readAll();
    hints.reach(7);
    expect(staleOf(here)).toEqual([]);
    hints.reach(8);
    expect(staleOf(here)).toEqual(['approvals', 'governance', 'budgets']);
  });
});
