import type { Work } from './work.ts';

/** Whether the pattern matches only its own text. */
export function isLiteralGlob(pattern: string): boolean {
  return !/[*?]/.test(pattern);
}

/**
 * `*` matches any run of characters, and `?` matches exactly one. Every other character matches only itself,
 * case-sensitive. After a mismatch only the last `*` is extended. Returns `false` when the work is used up, so the
 * caller must check `work.isSpent`.
 */
export function matchesGlob(pattern: string, text: string, work: Work): boolean {
  let at = 0;
  let position = 0;
  let star = -1;
  let resume = 0;
  while (position < text.length) {
    if (!work.takeSteps(1)) return false;
    if (pattern[at] === '*') {
      star = at;
      resume = position;
      at += 1;
    } else if (pattern[at] === '?' || pattern[at] === text[position]) {
      at += 1;
      position += 1;
    } else if (star >= 0) {
      resume += 1;
      position = resume;
      at = star + 1;
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}

/**
 * The maximum number of steps of {@link matchesGlob}. At each character, it may compare the longest part without a `*`.
 */
export function globStepsMax(pattern: string, textLength: number): number {
  const literals = pattern.split('*');
  const longest = Math.max(...literals.map((literal) => literal.length));
  return (textLength + literals.length) * (longest + 2);
}
