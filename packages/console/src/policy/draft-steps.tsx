import type { PolicyDraft } from '@countersign/contracts/control-plane';
import { Stepper } from '../parts/stepper.tsx';

const steps = [
  { name: 'Edit', missing: 'Change the text.' },
  { name: 'Compile and test', missing: 'Save and compile it without errors.' },
  { name: 'Try on past calls', missing: 'See which past calls it would decide differently.' },
  { name: 'Activate', missing: 'Confirm the decisions that become more permissive, and activate the draft.' },
] as const;

/** The number of completed steps in each state of a draft. */
const doneIn: Readonly<Record<PolicyDraft['state'], number>> = { editing: 1, compiled: 2, reported: 3, activated: 4 };

/** The steps of a draft until it decides calls. Unsaved text goes back to the second step. */
export function DraftSteps({ state, isChanged }: { state: PolicyDraft['state']; isChanged: boolean }) {
  const done = isChanged ? 1 : doneIn[state];
  return <Stepper label="Steps to activation" steps={steps} done={done} />;
}
