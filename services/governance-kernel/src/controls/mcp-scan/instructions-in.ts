import { meaningOf } from '@countersign/policy';
import { instructionRules, type PatternRule } from './scan-rules.ts';

type Instruction = {
  rule: PatternRule;
  excerpt: string;
  /** Whether the text is a quoted example. */ isQuoted: boolean;
};

const unseen =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\u3164\ufe00-\ufe0f\ufeff\uffa0\u{e0000}-\u{e01ef}]/gu;

/**
 * The text as a model reads it: compatibility forms resolved, invisible characters removed, in lower case. Line breaks
 * stay.
 */
function readText(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(unseen, '')
    .toLowerCase()
    .replaceAll(/[^\S\n]+/g, ' ');
}

/** Instructions to a model in this text, also when letters of another script replace Latin ones. */
export function instructionsIn(text: string): Instruction[] {
  const read = readText(text);
  const oneLine = read.replaceAll('\n', ' ');
  const folded = /[^\u0000-\u024f]/.test(oneLine) ? latin(oneLine) : oneLine; // eslint-disable-line no-control-regex -- ranges of letters begin with them
  return instructionRules.flatMap((rule) => {
    const found = rule.pattern.exec(rule.id === 'role-markup' ? read : oneLine) ?? rule.pattern.exec(folded);
    return found === null ? [] : [{ rule, excerpt: found[0], isQuoted: isQuotedExample(found.input, found.index) }];
  });
}

function latin(text: string): string {
  return text
    .split(' ')
    .map((word) => (/^[\p{Script=Latin}\p{P}\d]*$/u.test(word) ? word : meaningOf(word)))
    .join(' ');
}

const exampleWords =
  /\b(?:detects?|detection|classif\w+|flags?|scans? for|checks? for|looks? for|blocks?|filters?|such as|e\.g\.|examples? of|phrases like|attacks? like)\b[^.]{0,160}$/;

/** A tool that detects such instructions may quote some: `Detects phrases such as "ignore previous instructions".` */
function isQuotedExample(text: string, at: number): boolean {
  const before = text.slice(0, at);
  const quotes = before.match(/["“”`]/g)?.length ?? 0;
  return quotes % 2 === 1 && exampleWords.test(before);
}
