// With the u flag a well-formed pair is one code point above U+FFFF, so only lone surrogates match.
const unstorable = /[\0\ud800-\udfff]/gu;

/** Text that JSON and a column can hold: lone surrogates, which no UTF-8 carries, and NUL, which PostgreSQL refuses, become U+FFFD. */
export function storable(text: string): string {
  return text.replace(unstorable, '\ufffd');
}
