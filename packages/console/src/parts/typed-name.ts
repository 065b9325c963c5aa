import { visibleText } from '@countersign/contracts';

/**
 * A name as it is visible on a page, and can be typed: hidden characters are named, and several blanks look like one.
 */
export function readName(name: string): string {
  return visibleText(name).replaceAll(/\s+/g, ' ').trim();
}

export function isTyped(text: string, name: string): boolean {
  return readName(text) === readName(name);
}
