// With the u flag a well-formed pair is one code point above U+FFFF, so only lone surrogates match.
const loneSurrogate = /[\ud800-\udfff]/gu;

/** Text that has a JSON form: lone surrogates, which no UTF-8 can carry, become U+FFFD. */
export function wellFormed(text: string): string {
  return text.replace(loneSurrogate, '\ufffd');
}
