import { visibleText } from '@countersign/contracts';

/**
 * Makes attacker-controlled names and reasons safe for the note of an incident. Invisible characters are named, and
 * long text is cut.
 */
export function shownText(text: string, lettersMax: number): string {
  const visible = visibleText(text);
  return visible.length > lettersMax ? `${visible.slice(0, lettersMax)}…` : visible;
}
