import { PeriodName, periods } from './periods.ts';

type Props = { value: PeriodName; onChange: (period: PeriodName) => void };

/** Selects the period for the numbers and charts of a page. */
export function PeriodChoice({ value, onChange }: Props) {
  return (
    <div className="segments" role="group" aria-label="Period">
      {PeriodName.options.map((name) => (
        <button key={name} type="button" aria-pressed={name === value} onClick={() => onChange(name)}>
          {periods[name].words}
        </button>
      ))}
    </div>
  );
}
