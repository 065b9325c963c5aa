/** Controls, formatting and bidirectional marks, line and paragraph separators, lone surrogates, and what is drawn as nothing. */
const unseenCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

/** One line of text that shows all that it holds: whoever chose a name in an export must not choose what a terminal does or hides. */
export function forTerminal(text: string): string {
  return text.replace(unseenCharacters, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`);
}

/** The same for JSON, in which the escape is JSON's own. */
export function jsonForTerminal(value: unknown): string {
  return JSON.stringify(value).replace(unseenCharacters, escapedUnits);
}

function escapedUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
