/** Replaces a piece of code inside a sentence: one word, which no rule reads. */
const code = '`…`';

/** Words whose full stop does not end a sentence. */
const abbreviations = /\b(e\.g|i\.e|etc|vs|approx|no)\.$/i;

/**
 * Splits prose into sentences. Code in backticks, addresses and links become one word.
 * @param {string} text
 * @returns {{ sentence: string, offset: number }[]} `offset` counts characters from the begin of `text`.
 */
export function sentencesOf(text) {
  const prose = withoutCode(text);
  const found = [];
  let begin = 0;
  for (const { index, 0: end } of prose.matchAll(/[.!?:;](?=\s+[A-Z`"'(]|\s*$)|\n\s*\n/g)) {
    if (end === '.' && abbreviations.test(prose.slice(begin, index + 1))) continue;
    found.push(sentenceAt(prose, begin, index + end.length));
    begin = index + end.length;
  }
  found.push(sentenceAt(prose, begin, prose.length));
  return found.filter(({ sentence }) => /[a-z]/i.test(sentence));
}

/**
 * Keeps the length of the text, so that offsets stay valid.
 * @param {string} text
 */
function withoutCode(text) {
  return text
    .replace(/``[^`]*``|`[^`]*`/g, (found) => code.padEnd(found.length, '_'))
    .replace(/https?:\/\/[^\s)>]+/g, (found) => 'x'.repeat(found.length));
}

/**
 * @param {string} prose
 * @param {number} begin
 * @param {number} end
 */
function sentenceAt(prose, begin, end) {
  const raw = prose.slice(begin, end);
  const leading = raw.length - raw.trimStart().length;
  return { sentence: raw.trim().replace(/\s+/g, ' '), offset: begin + leading };
}
