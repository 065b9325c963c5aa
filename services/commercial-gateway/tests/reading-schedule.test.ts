import { expect, it } from '@jest/globals';
import { ReadingSchedule } from '../src/usage/reading-schedule.ts';

const workspace = 'wsp_1';

/** Returns the pauses in seconds after readings with these numbers of receipts. */
function pausesAfter(...found: number[]): number[] {
  const schedule = new ReadingSchedule();
  let nowMs = 0;
  return found.map((count) => {
    schedule.plan(workspace, { found: count, nowMs });
    const startedMs = nowMs;
    while (!schedule.isDue(workspace, nowMs)) nowMs += 1_000;
    return (nowMs - startedMs) / 1_000;
  });
}

it('a new workspace is read at once, and an active workspace every 15 seconds', () => {
  expect(new ReadingSchedule().isDue(workspace, 0)).toBe(true);
  expect(pausesAfter(3, 1, 100)).toEqual([15, 15, 15]);
});

it('the pause of an idle workspace doubles up to 10 minutes, and is reset by the first receipt', () => {
  expect(pausesAfter(0, 0, 0, 0, 0, 0, 0, 0, 1, 0)).toEqual([15, 30, 60, 120, 240, 480, 600, 600, 15, 30]);
});

it('each workspace is scheduled independently', () => {
  const schedule = new ReadingSchedule();
  schedule.plan(workspace, { found: 0, nowMs: 0 });
  expect(schedule.isDue('wsp_2', 1)).toBe(true);
  expect(schedule.isDue(workspace, 1)).toBe(false);
});
