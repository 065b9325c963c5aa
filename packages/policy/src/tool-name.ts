import { unseenCharacters } from '@countersign/contracts';

// Stryker disable next-line Regex: Speed alone: ASCII names have the same form either way.
const plain = /^[ -~]*$/;
const unseen = new RegExp(`[${unseenCharacters}]`, 'gu');

/**
 * The form of a name that its readers see: without compatibility forms (NFKC), case and invisible characters. Two names
 * with the same form can be confused. The step through upper case folds letters such as ß and ſ.
 *
 * @example foldedToolName('Ｎotes\u200d.pay') // 'notes.pay'
 */
export function foldedToolName(name: string): string {
  // Stryker disable next-line ConditionalExpression: Speed alone: ASCII names have the same form either way.
  if (plain.test(name)) return name.toLowerCase();
  const shown = name.normalize('NFKC').replace(unseen, '');
  return shown.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
}
