import { describe, expect, it } from '@jest/globals';
import { leastWorkMs } from '../src/worked.ts';

/** Work of about 10 ms on the reference machine. */
function unit(): void {
  const members = Array.from({ length: 6_000 }, (_, nth) => [`m${nth}`, { nth, text: 'x' }]);
  JSON.parse(JSON.stringify(Object.fromEntries(members)));
}
const units = (count: number) => {
  for (let nth = 0; nth < count; nth += 1) unit();
};

describe('the measured work', () => {
  it('grows with the work, and is within a factor of five of its size', async () => {
    const [few, many] = [
      await leastWorkMs(() => units(2), { tries: 2 }),
      await leastWorkMs(() => units(20), { tries: 2 }),
    ];
    expect(many).toBeGreaterThan(3 * few);
    expect(many).toBeGreaterThan(200 / 5);
    expect(many).toBeLessThan(200 * 5);
  });

  it('is the least of all tries', async () => {
    let turn = 0;
    const slowAtFirst = () => units((turn += 1) === 1 ? 20 : 0);
    expect(await leastWorkMs(slowAtFirst, { tries: 2 })).toBeLessThan(60);
    expect(turn).toBe(2);
  });
});
