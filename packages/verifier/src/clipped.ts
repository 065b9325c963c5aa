/** Longer than any message of this package with names that a kernel writes. */
const lengthMax = 1_000;
const endLength = 200;

/** A long text without its middle. It may quote a name of megabytes, and the end of the text states the place. */
export function clipped(text: string): string {
  if (text.length <= lengthMax) return text;
  const remaining = text.length - lengthMax;
  return `${text.slice(0, lengthMax - endLength)}… (${remaining} characters) …${text.slice(-endLength)}`;
}
