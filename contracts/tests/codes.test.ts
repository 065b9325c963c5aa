import { describe, expect, it } from '@jest/globals';
import { errorCodes, reasonCodes } from '../src/index.ts';
import { errorCodesPage } from '../src/openapi/reference.ts';

/** The most words of a heading, by the style rules of the console. */
const wordsMax = 12;
const kinds = { error: errorCodes, reason: reasonCodes } as const;

describe.each(Object.entries(kinds))('each %s code', (_kind, codes) => {
  const entries = Object.entries<{ says: string; nextStep: string }>(codes);

  it.each(entries)('%s has a short heading and a next step in a sentence', (code, { says, nextStep }) => {
    expect(says).toMatch(/^[A-Z].*[^.!?:\s]$/);
    expect(says.split(' ').length).toBeLessThanOrEqual(wordsMax);
    expect(says).not.toContain(code);
    expect(nextStep).toMatch(/^[A-Z].*\.$/);
    expect(nextStep).not.toBe(`${says}.`);
  });
});

it('no two error codes have the same heading', () => {
  const words = Object.values(errorCodes).map(({ says }) => says);
  expect(new Set(words).size).toBe(words.length);
});

it('the reference page lists the heading and the next step of each error code', () => {
  const page = errorCodesPage();
  for (const [code, { says, nextStep }] of Object.entries(errorCodes))
    expect(page).toMatch(new RegExp(`\\| \`${code}\` \\| ${says} \\|.*${nextStep.slice(0, 10)}`));
});
