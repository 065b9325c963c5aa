import type { RunSummary } from '@countersign/contracts/gateway';

const kinds = {
  m: { name: 'model', one: 'model call', more: 'model calls' },
  a: { name: 'tool', one: 'action', more: 'actions' },
  w: { name: 'wait', one: 'step that required an approval', more: 'steps that required an approval' },
  d: { name: 'deny', one: 'denied step', more: 'denied steps' },
} as const;

type Letter = keyof typeof kinds;

const [width, gap, height] = [8, 2, 10];

/** The first steps of a run, one bar each. Its name states the numbers, so that the colours carry nothing alone. */
export function StepStrip({ run: { stepCount, stepsBrief } }: { run: Pick<RunSummary, 'stepCount' | 'stepsBrief'> }) {
  if (stepsBrief === undefined || stepsBrief === '') return null;
  const letters = [...stepsBrief].filter((letter): letter is Letter => letter in kinds);
  const length = letters.length * (width + gap);
  return (
    <svg className="step-strip" viewBox={`0 0 ${length} ${height}`} width={length} height={height} role="img">
      <title>{summaryOf(letters, stepCount ?? letters.length)}</title>
      {letters.map((letter, nth) => (
        <rect
          key={nth}
          className={`step-bar-${kinds[letter].name}`}
          x={nth * (width + gap)}
          width={width}
          height={height}
          rx="2"
        />
      ))}
    </svg>
  );
}

function summaryOf(letters: readonly Letter[], steps: number): string {
  const counts = Object.entries(kinds).flatMap(([letter, { one, more }]) => {
    const count = letters.filter((each) => each === letter).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : more}`];
  });
  const shown = letters.length < steps ? `. The first ${letters.length} of ${steps} steps` : '';
  return `${counts.join(', ')}${shown}`;
}
