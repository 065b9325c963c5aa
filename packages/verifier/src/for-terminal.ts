import { unseenCharacters } from '@countersign/contracts';

const unseen = new RegExp(`[${unseenCharacters}]`, 'gu');

/**
 * One line of text with all characters visible, since a name in an export must not control or hide anything on a
 * terminal.
 */
export function forTerminal(text: string): string {
  return text.replace(unseen, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);
}

/** Like `forTerminal`, for a value as JSON. The escapes are those of JSON. */
export function jsonForTerminal(value: unknown): string {
  return JSON.stringify(value).replace(unseen, escapedUnits);
}

function escapedUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
