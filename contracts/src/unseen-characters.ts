/**
 * Invisible characters, as members of a class of a regular expression with the flag `u`. They are controls, marks of
 * format and direction, ends of lines, characters that fonts leave out, private and unassigned characters, and lone
 * halves. U+2800 is a letter that shows nothing.
 */
export const unseenCharacters = String.raw`\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800`;

/**
 * Those that no name holds. Unicode never changes what these are, so a name that one release could seal, every other
 * can read. The others occur in names as people write them, and comparisons of names leave them out.
 */
export const outsideNames = String.raw`\p{Cc}\ud800-\udfff\p{Co}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\u2800\ufff9-\ufffb`;
