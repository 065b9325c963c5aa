import { randomInt } from 'node:crypto';

/** Consonants without look-alikes, so that codes form no words (RFC 8628 §6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
/** 20^8 codes: 25.6 billion, of which a few are live at a time. */
const codeLength = 8;

/** Eight random letters. */
export function newUserCode(): string {
  return Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join('');
}

/** The code in its readable form. */
export function shownUserCode(code: string): string {
  return `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`;
}

/** Normalises a typed code (attacker-controlled). Case is ignored, and so are all characters other than letters. */
export function typedUserCode(text: string): string {
  return text.toUpperCase().replace(/[^A-Z]/g, '');
}
