import { describe } from '@jest/globals';

/** Tests that run in the order in which they are written, each on what the ones before it left. All other tests run in any order. */
export function describeStory(title: string, tests: () => void): void {
  describe(`${title} [story]`, tests);
}
