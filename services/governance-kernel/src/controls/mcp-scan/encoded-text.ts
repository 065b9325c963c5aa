import { instructionsIn } from './instructions-in.ts';

/** The shortest text that can hide an instruction. */
const encodedLengthMin = 24;
const candidatesMax = 20;
const base64 = new RegExp(`(?:[A-Za-z0-9+/_-]{4}){${encodedLengthMin / 4},4096}[A-Za-z0-9+/_-]{0,3}={0,2}`, 'g');
const hex = /(?:[0-9a-fA-F]{2}[\s:]?){20,2048}/g;
const escapes =
  /(?:%[0-9a-fA-F]{2}[A-Za-z]?){8,2048}|(?:\\u[0-9a-fA-F]{4}){8,1024}|(?:\\x[0-9a-fA-F]{2}){8,1024}|(?:&#x?[0-9a-fA-F]{2,6};){8,1024}/g;

const command = /\b(?:curl|wget|bash|powershell|eval|exec|import os|subprocess|https?:\/\/)\b/i;

/** Encoded text that contains instructions or code. Hashes, images and tokens do not count. */
export function encodedIn(text: string): { form: string; decoded: string } | null {
  for (const [form, decoded] of candidates(text))
    if (isText(decoded) && (instructionsIn(decoded).length > 0 || command.test(decoded))) return { form, decoded };
  const rotated = rot13(text);
  const found = instructionsIn(rotated).find(({ rule }) => rule.severity === 'high');
  return found === undefined ? null : { form: 'rot13', decoded: rotated };
}

function* candidates(text: string): Generator<[form: string, decoded: string]> {
  for (const [found] of take(text, base64)) yield ['base64', Buffer.from(found, 'base64').toString('utf8')];
  for (const [found] of take(text, hex))
    yield ['hexadecimal', Buffer.from(found.replaceAll(/[\s:]/g, ''), 'hex').toString('utf8')];
  for (const [found] of take(text, escapes)) yield ['escapes', unescaped(found)];
}

function take(text: string, pattern: RegExp): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  for (const match of text.matchAll(pattern)) if (found.push(match) >= candidatesMax) break;
  return found;
}

function unescaped(text: string): string {
  return text
    .replaceAll(/%([0-9a-fA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/\\[ux]([0-9a-fA-F]{2,4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/&#(x?)([0-9a-fA-F]{2,6});/g, (_, isHex: string, code: string) =>
      String.fromCharCode(Number.parseInt(code, isHex === '' ? 10 : 16)),
    );
}

/** Whether at least nine in ten characters are printable. */
function isText(decoded: string): boolean {
  const printable = decoded.match(/[\x20-\x7e\n\t]/g)?.length ?? 0;
  return decoded.length > 0 && printable / decoded.length >= 0.9;
}

function rot13(text: string): string {
  return text.replaceAll(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}
