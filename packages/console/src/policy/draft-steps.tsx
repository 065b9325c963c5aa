import { IconCheck } from '@tabler/icons-react';
import type { PolicyDraft } from '@countersign/contracts/control-plane';

const steps = [
  { name: 'Edit', missing: 'Change the text.' },
  { name: 'Compile and test', missing: 'Save and compile it without errors.' },
  { name: 'Try on past calls', missing: 'See which past calls it would decide differently.' },
  { name: 'Activate', missing: 'Confirm the looser calls and activate it.' },
] as const;

/** How many steps a draft has behind it. */
const doneIn: Readonly<Record<PolicyDraft['state'], number>> = { editing: 1, compiled: 2, reported: 3, activated: 4 };

/** The way of a draft until it decides calls. A text that is not saved yet goes back to the second step. */
export function DraftSteps({ state, isChanged }: { state: PolicyDraft['state']; isChanged: boolean }) {
  const done = isChanged ? 1 : doneIn[state];
  return (
    <ol className="stepper" aria-label="Steps to activation">
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
