import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const keyPattern = /^hp_([0-9A-Za-z]{34})([0-9A-Za-z]{6})$/;
/** These characters contain 202 random bits. The other six characters of a key are the checksum. */
const randomLength = 34;
const checksumLength = 6;
/** Long enough to tell the keys of a person apart, and far too short to guess a key. */
const shownLength = 9;

export function newApiKey(): string {
  const random = Array.from({ length: randomLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `hp_${random}${checksumOf(random)}`;
}

/** Whether a text begins like a workspace key. */
export function isApiKey(text: string): boolean {
  return text.startsWith('hp_');
}

/** Checks the checksum. A cut or mistyped key costs no query, and leak scanners can recognise a key. */
export function looksLikeApiKey(text: string): boolean {
  const [, random, checksum] = keyPattern.exec(text) ?? [];
  return random !== undefined && checksum === checksumOf(random);
}

export function shownPrefix(key: string): string {
  return key.slice(0, shownLength);
}

/** 202 random bits need no salt and no slow hash. */
export function apiKeyHash(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** CRC-32 in base 62. It detects mistakes and protects nothing. */
function checksumOf(random: string): string {
  let rest = crc32(random);
  let digits = '';
  while (digits.length < checksumLength) {
    digits = `${alphabet[rest % alphabet.length]}${digits}`;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
