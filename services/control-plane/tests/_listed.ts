import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UserId, WorkspaceId } from '@countersign/contracts';
import type { Tx } from '../src/store/database.ts';
import { numbered, openUndone } from './_undone.ts';

export const ada = UserId.parse(numbered('usr', 1));
export const workspaceId = WorkspaceId.parse(numbered('wsp', 1));
export const beside = WorkspaceId.parse(numbered('wsp', 2));
export const ids = (prefix: string, ...numbers: number[]): string[] =>
  numbers.map((number) => numbered(prefix, number));
export const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

export type List = {
  fill(tx: Tx): Promise<unknown>;
  list(tx: Tx, limit: number): Promise<readonly unknown[]>;
  listed: readonly unknown[];
  /** Set for a list function that takes no limit, or always uses the same limit. */
  isUnlimited?: true;
};

/**
 * Tests that a list omits rows that differ from a listed row in one member. Also tests that lists are sorted and
 * limited, whatever the order of insertion.
 */
export function describeLists(lists: Readonly<Record<string, List>>): void {
  let opened: Awaited<ReturnType<typeof openUndone>>;
  beforeAll(async () => {
    opened = await openUndone();
  });
  afterAll(() => opened?.close());

  const read = ({ fill, list }: List, limit: number) =>
    opened.undone(async (tx) => {
      await fill(tx);
      return await list(tx, limit);
    });

  describe('a list of the store', () => {
    it.each(Object.entries(lists))('has only the matching rows, sorted: %s', async (_name, list) => {
      expect(await read(list, 99)).toEqual(list.listed);
    });

    const limited = Object.entries(lists).filter(([, { isUnlimited }]) => isUnlimited !== true);
    it.each(limited)('respects its limit: %s', async (_name, list) => {
      expect(await read(list, 2)).toEqual(list.listed.slice(0, 2));
    });
  });
}
