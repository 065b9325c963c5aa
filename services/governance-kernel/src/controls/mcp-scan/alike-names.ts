import { foldedToolName } from '@countersign/policy';

/** Shorter names are often similar by chance. */
const lengthMin = 5;

/** Letters and digits that readers confuse. */
const mistaken: readonly [RegExp, string][] = [
  [/0/g, 'o'],
  [/[1|!]/g, 'l'],
  [/5/g, 's'],
  [/3/g, 'e'],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/[-_. ]/g, ''],
];

function skeleton(name: string): string {
  return mistaken
    .reduce((text, [pattern, letter]) => text.replaceAll(pattern, letter), foldedToolName(name).toLowerCase())
    .replaceAll('i', 'l');
}

/** Whether a name mixes Latin letters with a script that has similar ones. */
export function mixesScripts(name: string): boolean {
  return (
    /\p{Script=Latin}/u.test(name) &&
    /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]|[\uff00-\uffef]|[\u{1d400}-\u{1d7ff}]/u.test(
      name,
    )
  );
}

/** Whether readers may confuse two names. */
export function isAlike(name: string, otherName: string): boolean {
  if (name === otherName) return false;
  const [one, two] = [skeleton(name), skeleton(otherName)];
  if (one === two) return true;
  return Math.min(one.length, two.length) >= lengthMin + 2 && isSwapped(one, two);
}

/**
 * Whether two neighbouring letters are swapped, or one letter is doubled: `raed_file`, `read_fille`. Any other extra
 * letter does not count, since it may form a plural.
 */
function isSwapped(one: string, two: string): boolean {
  if (one.length === two.length) {
    const at = [...one].findIndex((letter, nth) => letter !== two[nth]);
    return one[at] === two[at + 1] && one[at + 1] === two[at] && one.slice(at + 2) === two.slice(at + 2);
  }
  const [short, long] = one.length < two.length ? [one, two] : [two, one];
  if (long.length !== short.length + 1) return false;
  const at = [...long].findIndex((letter, nth) => letter !== short[nth]);
  return at > 0 && long[at] === long[at - 1] && long.slice(at + 1) === short.slice(at);
}

/** The similarity of two descriptions: shared words among all words. */
export function similarity(one: string, two: string): number {
  const [left, right] = [wordsOf(one), wordsOf(two)];
  if (left.size === 0 || right.size === 0) return 0;
  const shared = [...left].filter((word) => right.has(word)).length;
  return shared / (left.size + right.size - shared);
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\d]+/gu) ?? []);
}
