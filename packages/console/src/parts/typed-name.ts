import { visibleText } from '@countersign/contracts';

/** A name as somebody reads it on a page, and can type it: what hides is named, and several blanks look like one. */
export function readName(name: string): string {
  return visibleText(name).replaceAll(/\s+/g, ' ').trim();
}

export function isTyped(text: string, name: string): boolean {
  return readName(text) === readName(name);
}
