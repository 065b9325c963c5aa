/** A name that people chose, for a mail: it begins no line and no header of its own, and turns or hides nothing around it. */
export function oneLine(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').slice(0, 100);
}
