import { IconCheck } from '@tabler/icons-react';

type Step = { name: string; missing: string };
type Props = {
  label: string;
  steps: readonly Step[];
  /** The number of completed steps. */
  done: number;
};

/** The steps of one task. The current step states what is missing. Its style sheet is `policy/policy.css`. */
export function Stepper({ label, steps, done }: Props) {
  return (
    <ol className="stepper" aria-label={label}>
      {steps.map(({ name, missing }, nth) => (
        <li key={name} className={nth < done ? 'stepper-done' : ''} {...(nth === done && { 'aria-current': 'step' })}>
          <span className="stepper-number" aria-hidden="true">
            {nth < done ? <IconCheck size={14} /> : nth + 1}
          </span>
          <span>
            {name}
            {nth < done && <span className="hidden"> (done)</span>}
            {nth === done && <span className="quiet stepper-missing"> {missing}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}
