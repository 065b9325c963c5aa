import { randomInt } from 'node:crypto';

/** Consonants without look-alikes, so that no word comes about (RFC 8628 §6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
/** 20^8 codes: 25 thousand million, of which a few live at a time. */
const codeLength = 8;

/** Eight random letters. */
export function newUserCode(): string {
  return Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join('');
}

/** The code in its readable form. */
export function shownUserCode(code: string): string {
  return `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`;
}

/** A typed code (attacker-controlled) in one form: case, dashes and blanks mean nothing. */
export function typedUserCode(text: string): string {
  return text.toUpperCase().replace(/[^A-Z]/g, '');
}
