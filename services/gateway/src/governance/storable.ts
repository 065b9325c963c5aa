// With the u flag a well-formed pair is one code point above U+FFFF, so only lone surrogates match.
const unstorable = /[\0\ud800-\udfff]/gu;

/**
 * Replaces lone surrogates and NUL by U+FFFD. UTF-8 cannot encode lone surrogates, and PostgreSQL refuses NUL.
 */
export function storable(text: string): string {
  return text.replace(unstorable, '\ufffd');
}
