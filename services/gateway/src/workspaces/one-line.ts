/**
 * A user-chosen name in a form that is safe in a mail: it cannot begin a line or a header, reverse text or hide text.
 */
export function oneLine(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').slice(0, 100);
}
