import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LineTooLong, readLines } from '../src/read-lines.ts';

/** Splits a text into pieces of these lengths and a rest, and reads its lines. */
async function linesIn(text: string, lengths: readonly number[], bytesMax = 1_000): Promise<string[]> {
  async function* pieces() {
    let rest = Buffer.from(text);
    for (const length of [...lengths, rest.length]) {
      yield rest.subarray(0, length);
      rest = rest.subarray(length);
    }
  }
  const lines: string[] = [];
  for await (const line of readLines(pieces(), bytesMax)) lines.push(Buffer.from(line).toString());
  return lines;
}

describe('the lines of a stream', () => {
  it('are the same for any split of the stream', async () => {
    const texts = fc.array(fc.constantFrom('a', 'é', '\n', '{}'), { maxLength: 40 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(5), { maxLength: 10 }), async (text, lengths) => {
        const lines = text.split('\n');
        if (lines.at(-1) === '') lines.pop();
        expect(await linesIn(text, lengths)).toEqual(lines);
      }),
    );
  });

  it('are limited in length, for any split of the stream', async () => {
    expect(await linesIn('abcde\nfghij', [3, 4], 5)).toEqual(['abcde', 'fghij']);
    for (const lengths of [[], [3], [3, 3], [10]])
      await expect(linesIn('ab\nabcdef', lengths, 5)).rejects.toThrow(new LineTooLong('a line has more than 5 bytes'));
  });
});
