import type { ExportReport } from '@countersign/verifier';

type Question = 'integrity' | 'completeness' | 'signer' | 'time';

/** The meaning of each answer, in the order of the page. */
export const meanings: { readonly [Q in Question]: Readonly<Record<ExportReport[Q], string>> } = {
  integrity: {
    VERIFIED: 'Every receipt, record and place in the log is what it claims to be.',
    BROKEN: 'A part was changed, or was never genuine.',
    UNDECIDED: 'The readable part of the pack is not enough for an answer.',
  },
  completeness: {
    COMPLETE: 'The pack contains everything in its scope, according to the signed statement at its end.',
    INCOMPLETE: 'A part of the scope is missing.',
    UNDECIDED: 'The readable part of the pack is not enough for an answer.',
  },
  signer: {
    TRUSTED: 'The keys below signed everything, while they were valid.',
    NOT_TRUSTED: 'A key was not valid for what it signed, or a signature does not match.',
    UNKNOWN: 'A signature is by a key that is not among the keys below.',
    UNDECIDED: 'The readable part of the pack is not enough for an answer.',
  },
  time: {
    LOGGED: 'The log of the operator bounds the time of each receipt.',
    WITNESSED: 'A party other than the operator bounds the time of each receipt.',
    CLAIMED: 'Only the signer of the receipts states when they were issued.',
    CONTRADICTED: 'A time contradicts the log.',
    UNDECIDED: 'The readable part of the pack is not enough for an answer.',
  },
};

export const questions: readonly Question[] = ['integrity', 'completeness', 'signer', 'time'];

const good: ReadonlySet<string> = new Set(['VERIFIED', 'COMPLETE', 'TRUSTED', 'LOGGED', 'WITNESSED']);
const bad: ReadonlySet<string> = new Set(['BROKEN', 'NOT_TRUSTED', 'CONTRADICTED', 'NOT_VERIFIED']);

/** The class of an answer: `good`, `bad`, or `open` for undecided and incomplete answers. */
export function toneOf(answer: string): 'good' | 'bad' | 'open' {
  if (good.has(answer)) return 'good';
  return bad.has(answer) ? 'bad' : 'open';
}
