import { describe, expect, it } from '@jest/globals';
import { takeTurns } from '../src/take-turns.ts';

describe('taking turns', () => {
  it('alternates the order, so that neither side is always second, and keeps the rounds of each side in order', async () => {
    const order: string[] = [];
    const members = new Map([
      ['subject', 'S'],
      ['floor', 'F'],
    ]);
    const windows = await takeTurns(members, 3, async (member) => {
      order.push(member);
      return `${member}${order.length}`;
    });
    expect(order.join(' ')).toBe('S F F S S F');
    expect([...windows]).toEqual([
      ['subject', ['S1', 'S4', 'S5']],
      ['floor', ['F2', 'F3', 'F6']],
    ]);
  });

  it('cancels a steady drift of the machine over two rounds', async () => {
    let slowness = 0;
    const cost = async () => {
      slowness += 1;
      return slowness;
    };
    const members = new Map([
      ['subject', cost],
      ['floor', cost],
    ]);
    const windows = await takeTurns(members, 2, (measure) => measure());
    const sums = [...windows.values()].map((list) => list.reduce((left, right) => left + right, 0));
    expect(sums).toEqual([5, 5]);
  });
});
