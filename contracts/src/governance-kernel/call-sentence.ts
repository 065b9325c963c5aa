import { z } from 'zod';
import { minorDigitsOf } from '../currencies.ts';
import { decimalOfMinor } from '../money.ts';
import { visibleText } from '../visible-text.ts';

type Token =
  | { kind: 'text'; text: string }
  | { kind: 'value'; path: readonly string[] }
  | { kind: 'money'; amount: readonly string[]; currency: readonly string[] };

const placeholdersMax = 8;
/** A longer value would hide the words around it. */
const valueLengthMax = 80;

const name = String.raw`[A-Za-z_][A-Za-z0-9_-]{0,63}`;
const path = String.raw`${name}(?:\.${name}){0,4}`;
const placeholder = new RegExp(String.raw`^(?:(${path})|money (${path}) (${path}))$`);

/**
 * The owner of a policy states what a call of a tool does. Placeholders take values of the arguments: `{to}`,
 * `{creditor.name}`, or `{money amount_minor currency}` for an amount in minor units.
 *
 * @example 'transfer {money amount_minor currency} to {creditor.name}'
 */
export const CallSentence = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => visibleText(text) === text, 'must not contain invisible characters')
  .refine((text) => tokensOf(text) !== null, 'must contain only placeholders such as {to} or {money amount currency}');

/** The tokens of a sentence, or `null` when its braces are no placeholders. */
function tokensOf(sentence: string): Token[] | null {
  const tokens: Token[] = [];
  let placeholders = 0;
  // Texts have even positions, and the contents of braces have odd ones.
  for (const [position, text] of sentence.split(/\{([^{}]*)\}/).entries()) {
    if (position % 2 === 0) {
      if (/[{}]/.test(text)) return null;
      if (text !== '') tokens.push({ kind: 'text', text });
      continue;
    }
    const [, value, amount, currency] = placeholder.exec(text) ?? [];
    placeholders += 1;
    if (placeholders > placeholdersMax) return null;
    if (value !== undefined) tokens.push({ kind: 'value', path: value.split('.') });
    else if (amount !== undefined && currency !== undefined)
      tokens.push({ kind: 'money', amount: amount.split('.'), currency: currency.split('.') });
    else return null;
  }
  return tokens;
}

/** A piece of a sentence. The caller of the tool wrote a value, and the owner of the policy wrote all other text. */
export type SentencePiece = { readonly text: string; readonly isValue: boolean };

/**
 * The sentence about one call. `null` when an argument is missing, is not a short text, number or truth value, or has
 * an unknown currency. Readers then see the name of the tool.
 */
export function sentenceOfCall(sentence: string, args: Readonly<Record<string, unknown>>): SentencePiece[] | null {
  const pieces: SentencePiece[] = [];
  for (const token of tokensOf(sentence) ?? []) {
    if (token.kind === 'text') {
      pieces.push({ text: token.text, isValue: false });
      continue;
    }
    const text = token.kind === 'money' ? moneyIn(args, token) : shortText(valueAt(args, token.path));
    if (text === null) return null;
    pieces.push({ text, isValue: true });
  }
  return pieces.length === 0 ? null : pieces;
}

function valueAt(args: unknown, members: readonly string[]): unknown {
  let value = args;
  for (const member of members) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, member))
      return null;
    value = (value as Readonly<Record<string, unknown>>)[member];
  }
  return value;
}

function shortText(value: unknown): string | null {
  const isShown = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
  if (!isShown) return null;
  const text = String(value);
  return text.trim() === '' || visibleText(text).length > valueLengthMax ? null : text;
}

function moneyIn(args: unknown, { amount, currency }: Extract<Token, { kind: 'money' }>): string | null {
  const [minor, code] = [valueAt(args, amount), valueAt(args, currency)];
  if (typeof code !== 'string' || !Number.isSafeInteger(minor)) return null;
  if (minorDigitsOf(code) === null) return null;
  return `${decimalOfMinor(BigInt(minor as number), code)} ${code}`; // a safe integer
}
