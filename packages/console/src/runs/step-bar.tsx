import type { Run, RunStep } from '@countersign/contracts/gateway';

/** The least width of a step in percent of the run, so that short steps stay visible. */
const leastWidth = 0.6;

type Span = { fromMs: number; toMs: number };

/** The time from the first step to the last one, or to now while the run continues. */
export function spanOf({ steps }: Run, nowMs: number): Span {
  const starts = steps.map(({ startedAt }) => Date.parse(startedAt));
  const ends = steps.map(({ endedAt }) => (endedAt === null ? nowMs : Date.parse(endedAt)));
  return { fromMs: Math.min(...starts), toMs: Math.max(...ends) };
}

/** The place of a step in the time of its run. The times beside it are text, so the bar is decoration. */
export function StepBar({ step, span, nowMs }: { step: RunStep; span: Span; nowMs: number }) {
  const lengthMs = Math.max(1, span.toMs - span.fromMs);
  const endMs = step.endedAt === null ? nowMs : Date.parse(step.endedAt);
  const at = ((Date.parse(step.startedAt) - span.fromMs) / lengthMs) * 100;
  const width = Math.max(leastWidth, ((endMs - Date.parse(step.startedAt)) / lengthMs) * 100);
  return (
    <svg className="step-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect className={`step-bar-${kindOf(step)}`} x={Math.min(at, 100 - leastWidth)} width={width} height="1" />
    </svg>
  );
}

function kindOf({ verdict, tool }: RunStep): 'wait' | 'model' | 'tool' {
  if (verdict === 'ESCALATE') return 'wait';
  return tool === null ? 'model' : 'tool';
}
