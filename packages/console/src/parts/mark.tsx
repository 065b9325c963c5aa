export type Tone = 'good' | 'bad' | 'wait' | 'plain' | 'live';

/** A state in one word; the colour only repeats it. */
export function Mark({ tone, children }: { tone: Tone; children: string }) {
  return <span className={`mark mark-${tone}`}>{children}</span>;
}

const verdictTones = { ALLOW: 'good', DENY: 'bad', ESCALATE: 'wait' } as const;

export function VerdictMark({ verdict }: { verdict: keyof typeof verdictTones }) {
  return <Mark tone={verdictTones[verdict]}>{verdict}</Mark>;
}
