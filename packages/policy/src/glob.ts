/** True when the pattern is its own only match. */
export function isLiteralGlob(pattern: string): boolean {
  return !/[*?]/.test(pattern);
}

/**
 * `*` matches any run of characters, `?` exactly one; everything else matches itself, case counts. At most
 * pattern × text steps: on a mismatch only the last `*` is widened.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let position = 0;
  let star = -1;
  let resume = 0;
  while (position < text.length) {
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
