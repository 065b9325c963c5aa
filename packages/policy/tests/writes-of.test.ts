import { expect, it } from '@jest/globals';
import { writesOf } from '../src/index.ts';

it('a call of E2 or higher counts as one write, unless it is a model call', () => {
  const levels = ['E0', 'E1', 'E2', 'E3', 'E4'] as const;
  const writes = (action: string) => levels.map((effect_level) => writesOf({ action, effect_level }));
  expect(writes('tool.call')).toEqual([0, 0, 1, 1, 1]);
  expect(writes('data.egress')).toEqual([0, 0, 1, 1, 1]);
  expect(writes('model.call')).toEqual([0, 0, 0, 0, 0]);
});
