import { it } from '@jest/globals';

/**
 * Declares a test that proves one promise of tests/promises.ts. The architecture tests search for these calls, so the
 * id must be a string literal.
 */
export function verifies(promiseId: string, guarantee: string, prove: () => Promise<void> | void): void {
  it(`${guarantee} [${promiseId}]`, async () => await prove());
}
