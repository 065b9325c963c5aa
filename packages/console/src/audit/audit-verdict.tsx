import type { AuditVerdict } from '@countersign/contracts';
import { Mark, VerdictMark, verdictWords } from '../parts/mark.tsx';

/** The mark of each entry: the verdict on its action, or `Failed` when the action failed without a verdict. */
export const auditVerdicts = {
  allow: { verdict: 'ALLOW', word: verdictWords.ALLOW },
  deny: { verdict: 'DENY', word: verdictWords.DENY },
  escalate: { verdict: 'ESCALATE', word: verdictWords.ESCALATE },
  fail: { verdict: null, word: 'Failed' },
} as const satisfies Readonly<Record<AuditVerdict, object>>;

export function AuditVerdictMark({ verdict: value }: { verdict: AuditVerdict }) {
  const { verdict, word } = auditVerdicts[value];
  return verdict === null ? <Mark tone="bad">{word}</Mark> : <VerdictMark verdict={verdict} />;
}
