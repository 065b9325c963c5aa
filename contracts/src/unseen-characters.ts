/**
 * Invisible characters, for a character class of a regular expression with the flag `u`. They are controls, marks of
 * format and direction, line ends, characters without a glyph, private and unassigned characters, and lone surrogates.
 * U+2800 is a letter without visible dots.
 */
export const unseenCharacters = String.raw`\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800`;

/**
 * Characters that names must not contain. Unicode never changes this set, so all releases can read names that one
 * release sealed. The other invisible characters occur in real names, and comparisons of names ignore them.
 */
export const outsideNames = String.raw`\p{Cc}\ud800-\udfff\p{Co}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\u2800\ufff9-\ufffb`;
