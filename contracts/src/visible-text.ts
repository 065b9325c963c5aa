/**
 * Controls, direction marks, what fonts leave out, private and lone halves, and every blank but the ordinary one. U+2800 is a
 * letter that shows nothing.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

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
