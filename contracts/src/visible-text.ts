import { unseenCharacters } from './unseen-characters.ts';

/** Every blank but the ordinary one as well: two of them look alike. */
const unseen = new RegExp(String.raw`[${unseenCharacters}]|(?! )\p{Zs}`, 'gu');

/**
 * Text of a stranger as every page for people shows it: an approver decides on what is read, so nothing hides in it.
 * `pay\u202e.send` reads `pay⟨U+202E⟩.send`.
 */
export function visibleText(text: string): string {
  return text.replace(unseen, (character) => {
    const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟨U+${number}⟩`;
  });
}
