import { visibleText } from '@countersign/contracts';

/** Names and reasons that an attacker may have chosen, for the note of an incident: what cannot be seen is named, and the rest is cut. */
export function shownText(text: string, lettersMax: number): string {
  const visible = visibleText(text);
  return visible.length > lettersMax ? `${visible.slice(0, lettersMax)}…` : visible;
}
