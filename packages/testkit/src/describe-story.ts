import { describe } from '@jest/globals';

/**
 * Tests that run in their written order, because each needs the state after the previous one. All other tests can run
 * in any order.
 */
export function describeStory(title: string, tests: () => void): void {
  describe(`${title} [story]`, tests);
}
