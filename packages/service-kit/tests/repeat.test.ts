import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { repeat, type Repeated } from '../src/index.ts';

const intervalMs = 1;
let repeated: Repeated;
afterEach(() => repeated.close());

const near = { isNear: async () => true };
const { signal } = new AbortController();
const isWell = () =>
  Promise.resolve(repeated.check(signal)).then(
    () => true,
    () => false,
  );

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(intervalMs); // between two reads of the state
}

describe('work that is repeated on a timer', () => {
  it('is reported as failing until a pass succeeds again', async () => {
    let isBroken = true;
    const failures: unknown[] = [];
    const run = () => (isBroken ? Promise.reject(new Error('away')) : Promise.resolve());
    repeated = repeat({ run, intervalMs, clockGuard: near, onFailure: (error) => failures.push(error) });
    expect(await isWell()).toBe(true);
    await until(async () => !(await isWell()));
    expect(failures[0]).toEqual(new Error('away'));
    isBroken = false;
    await until(isWell);
  });

  it('does not start while the clock guard reports a wrong clock, and is then reported as failing', async () => {
    let [isNear, looks, started] = [false, 0, 0];
    const clockGuard = {
      isNear: async () => {
        looks += 1;
        return isNear;
      },
    };
    const run = async () => void (started += 1);
    repeated = repeat({ run, intervalMs, clockGuard, onFailure: () => undefined });
    await until(() => looks > 2);
    expect({ started, isWell: await isWell() }).toEqual({ started: 0, isWell: false });
    isNear = true;
    await until(() => started > 0);
    await until(isWell);
  });

  it('never runs twice at once, and stops when it is closed', async () => {
    let [started, running, together] = [0, 0, 0];
    const run = async () => {
      started += 1;
      running += 1;
      together = Math.max(together, running);
      await delay(20 * intervalMs); // runs that may overlap would begin in this time
      running -= 1;
    };
    repeated = repeat({ run, intervalMs, clockGuard: near, onFailure: () => undefined });
    await until(() => started === 2);
    await repeated.close();
    expect({ running, together }).toEqual({ running: 0, together: 1 });
    await delay(5 * intervalMs); // a further run would begin in this time
    expect(started).toBe(2);
  });
});
