import { unseenCharacters } from './unseen-characters.ts';

/** Includes all blanks except the ordinary one, since they look the same. */
const unseen = new RegExp(String.raw`[${unseenCharacters}]|(?! )\p{Zs}`, 'gu');

/**
 * Text of untrusted callers for pages, with invisible characters made visible, since approvers decide on what they
 * read. `pay\u202e.send` becomes `pay⟨U+202E⟩.send`.
 */
export function visibleText(text: string): string {
  return text.replace(unseen, (character) => {
    const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟨U+${number}⟩`;
  });
}
