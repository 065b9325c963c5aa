import { describe, expect, it } from '@jest/globals';
import { databaseClock } from '../src/index.ts';

const shownMs = Date.parse('2026-11-28T09:00:00Z');
const queries = { $queryRaw: async () => [{ ms: shownMs + 0.75 }] };

describe('the clock of the database for a service', () => {
  it('is the time that a statement returns', async () => {
    expect(await databaseClock()(queries)).toEqual(new Date(shownMs));
  });

  it('is the time that a test sets, however long a statement takes', async () => {
    const moved = new Date(shownMs + 60_000);
    expect(await databaseClock(() => moved)(queries)).toEqual(moved);
  });
});
