import { Link } from '@tanstack/react-router';
import { mayDo } from '@countersign/contracts';
import type { SetupStep } from '@countersign/contracts/control-plane';
import { Loaded } from '../parts/loaded.tsx';
import { Mark } from '../parts/mark.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { FoundOrg } from './found-org.tsx';

type Step = { says: string; why: string; page?: '/you' | '/runs' | '/members' | '/policy' };

const steps: Readonly<Record<SetupStep, Step>> = {
  org: { says: 'Name your organisation', why: 'It owns this workspace, and every other one that you make.' },
  budget: { says: 'Have a budget', why: 'It comes with the organisation: beyond it, calls are denied.' },
  passkey: {
    says: 'Enrol a passkey',
    why: 'Your device signs what you approve. From then on, votes here count by passkey alone.',
    page: '/you',
  },
  first_receipt: {
    says: 'See a first receipt',
    why: 'Start the sample task: its call is decided, and the receipt verifies.',
    page: '/runs',
  },
  colleague: {
    says: 'Invite a colleague',
    why: 'So that nobody approves alone what they asked for.',
    page: '/members',
  },
  policy: {
    says: 'Put a policy of your own into force',
    why: 'Until then the starter policy decides: reading is allowed, what cannot be undone waits for a person.',
    page: '/policy',
  },
};

/** What of the workspace is left to set up, for whoever owns it; nothing once all of it stands. */
export function Setup() {
  const { role } = useWorkspace();
  return mayDo(role, 'workspace.manage') ? <Checklist /> : null;
}

function Checklist() {
  const setup = useWorkspaceQuery(['setup'], (client, signal) => client.getBootstrap({ signal }));
  if (setup.data?.steps.every(({ done }) => done) === true) return null;
  return (
    <section aria-label="Set up">
      <h2>Set up</h2>
      <Loaded query={setup}>
        {({ steps: standing }) => (
          <ol className="steps">
            {standing.map(({ step, done }) => (
              <li key={step} className="step">
                <Line step={step} isDone={done} />
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </section>
  );
}

function Line({ step, isDone }: { step: SetupStep; isDone: boolean }) {
  const { says, why, page } = steps[step];
  return (
    <>
      <p className="setup-head">
        <Mark tone={isDone ? 'good' : 'plain'}>{isDone ? 'done' : 'to do'}</Mark>
        {page === undefined || isDone ? <strong>{says}</strong> : <Link to={page}>{says}</Link>}
      </p>
      {!isDone && <p className="quiet">{why}</p>}
      {step === 'org' && !isDone && <FoundOrg />}
    </>
  );
}
