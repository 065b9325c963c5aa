import { unseenCharacters } from '@countersign/contracts';

// Stryker disable next-line Regex: Speed alone: the characters that are in every alphabet fold alike.
const plain = /^[ -~]*$/;
const unseen = new RegExp(`[${unseenCharacters}]`, 'gu');

/**
 * The form of a name that its readers see: without compatibility forms (NFKC), case, and characters that are not shown.
 * Two names with the same remainder can be taken for each other. Upper case in between folds what has no lower case of
 * its own (ß, ſ).
 *
 * @example foldedToolName('Ｎotes\u200d.pay') // 'notes.pay'
 */
export function foldedToolName(name: string): string {
  // Stryker disable next-line ConditionalExpression: Speed alone: the characters that are in every alphabet fold alike.
  if (plain.test(name)) return name.toLowerCase();
  const shown = name.normalize('NFKC').replace(unseen, '');
  return shown.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
}
