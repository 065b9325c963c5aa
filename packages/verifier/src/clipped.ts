/** Longer than any sentence of ours with the names in it that a kernel writes. */
const lengthMax = 1_000;
const endLength = 200;

/** A text with its middle left out where it is long: it may quote a name of megabytes, and what stands behind that says where. */
export function clipped(text: string): string {
  if (text.length <= lengthMax) return text;
  const left = text.length - lengthMax;
  return `${text.slice(0, lengthMax - endLength)}… (${left} characters) …${text.slice(-endLength)}`;
}
