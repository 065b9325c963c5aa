import { visibleText } from '@countersign/contracts';

/**
 * A name as a page shows it, so that people can type it. Invisible characters are shown as code points, and several
 * spaces become one.
 */
export function readName(name: string): string {
  return visibleText(name).replaceAll(/\s+/g, ' ').trim();
}

export function isTyped(text: string, name: string): boolean {
  return readName(text) === readName(name);
}
