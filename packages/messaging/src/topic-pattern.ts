/** True when a dotted type matches an AMQP topic pattern: `*` is one word, `#` is any number of words. */
export function matchesTopic(pattern: string, type: string): boolean {
  return matchesWords(pattern.split('.'), type.split('.'));
}

function matchesWords([head, ...rest]: string[], words: string[]): boolean {
  if (head === undefined) return words.length === 0;
  if (head === '#')
    return matchesWords(rest, words) || (words.length > 0 && matchesWords([head, ...rest], words.slice(1)));
  const [word, ...others] = words;
  return word !== undefined && (head === '*' || head === word) && matchesWords(rest, others);
}
