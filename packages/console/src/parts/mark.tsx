import { IconBan, IconCircleCheck, IconUserQuestion } from '@tabler/icons-react';
import type { Verdict } from '@countersign/contracts';

export type Tone = 'good' | 'bad' | 'wait' | 'plain' | 'live';

/** A state in one word. The colour only repeats the word. */
export function Mark({ tone, children }: { tone: Tone; children: string }) {
  return <span className={`mark mark-${tone}`}>{children}</span>;
}

/** A verdict as people read it. */
export const verdictWords: Readonly<Record<Verdict, string>> = {
  ALLOW: 'Allowed',
  DENY: 'Denied',
  ESCALATE: 'Needs approval',
};
const verdictLooks = {
  ALLOW: { tone: 'calm', Symbol: IconCircleCheck },
  DENY: { tone: 'bad', Symbol: IconBan },
  ESCALATE: { tone: 'wait', Symbol: IconUserQuestion },
} as const;

/** A verdict with its own symbol and word. "Allowed" has no fill, because most rows are allowed. */
export function VerdictMark({ verdict }: { verdict: Verdict }) {
  const { tone, Symbol } = verdictLooks[verdict];
  return (
    <span className={`mark mark-verdict mark-${tone}`} title={verdict}>
      <Symbol size={14} aria-hidden="true" />
      {verdictWords[verdict]}
    </span>
  );
}
