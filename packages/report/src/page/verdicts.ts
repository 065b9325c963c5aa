import type { ExportReport } from '@countersign/verifier';

type Question = 'integrity' | 'completeness' | 'signer' | 'time';

/** The meaning of each answer, in the order in which the page shows them. */
export const meanings: { readonly [Q in Question]: Readonly<Record<ExportReport[Q], string>> } = {
  integrity: {
    VERIFIED: 'Every receipt, record and place in the log is what it claims to be.',
    BROKEN: 'Something was changed, or never was genuine.',
    UNDECIDED: 'The part that could be read does not decide it.',
  },
  completeness: {
    COMPLETE: 'Everything of the scope is here, as the signed statement at the end counts it.',
    INCOMPLETE: 'Something of the scope is missing.',
    UNDECIDED: 'The part that could be read does not decide it.',
  },
  signer: {
    TRUSTED: 'The keys below signed everything, while they were valid.',
    NOT_TRUSTED: 'A key was not valid for what it signed, or a signature does not match.',
    UNKNOWN: 'A signature is by a key that is not among the keys below.',
    UNDECIDED: 'The part that could be read does not decide it.',
  },
  time: {
    LOGGED: 'The log of the operator bounds the time of each receipt.',
    WITNESSED: 'A party other than the operator bounds the time of each receipt.',
    CLAIMED: 'Only the signer of the receipts states when they were issued.',
    CONTRADICTED: 'A time contradicts the log.',
    UNDECIDED: 'The part that could be read does not decide it.',
  },
};

export const questions: readonly Question[] = ['integrity', 'completeness', 'signer', 'time'];

const good: ReadonlySet<string> = new Set(['VERIFIED', 'COMPLETE', 'TRUSTED', 'LOGGED', 'WITNESSED']);
const bad: ReadonlySet<string> = new Set(['BROKEN', 'NOT_TRUSTED', 'CONTRADICTED', 'NOT_VERIFIED']);

/** The class of an answer: `good`, `bad`, or `open` for what is undecided or incomplete. */
export function toneOf(answer: string): 'good' | 'bad' | 'open' {
  if (good.has(answer)) return 'good';
  return bad.has(answer) ? 'bad' : 'open';
}
