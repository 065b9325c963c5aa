import { IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { mayDo } from '@countersign/contracts';
import type { SetupStep } from '@countersign/contracts/control-plane';
import { Loaded } from '../parts/loaded.tsx';
import { useWorkspace, useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { FoundOrg } from './found-org.tsx';

type Step = { title: string; why: string; page?: '/you' | '/runs' | '/members' | '/policy' };

const steps: Readonly<Record<SetupStep, Step>> = {
  org: { title: 'Name your organisation', why: 'It owns this workspace and every other workspace you make.' },
  budget: { title: 'Have a budget', why: 'It comes with the organisation. Calls beyond it are denied.' },
  passkey: {
    title: 'Enrol a passkey',
    why: 'Your device signs what you approve. From then on, only a passkey approves calls here.',
    page: '/you',
  },
  first_receipt: {
    title: 'See a first receipt',
    why: 'Start the sample task. Its call is decided, and its receipt verifies.',
    page: '/runs',
  },
  colleague: {
    title: 'Invite a colleague',
    why: 'Two people can approve what one person started.',
    page: '/members',
  },
  policy: {
    title: 'Activate a policy of your own',
    why: 'Until then the starter policy decides. It allows reading and asks a person about what cannot be undone.',
    page: '/policy',
  },
};

/** What is left to set up, for an owner. Nothing is shown once all of it is done. */
export function Setup() {
  const { role } = useWorkspace();
  return mayDo(role, 'workspace.manage') ? <Checklist /> : null;
}

function Checklist() {
  const setup = useWorkspaceQuery(['setup'], (client, signal) => client.getBootstrap({ signal }));
  if (setup.data?.steps.every(({ done }) => done) === true) return null;
  return (
    <section aria-label="Set up">
      <Loaded query={setup}>
        {({ steps: current }) => (
          <>
            <div className="section-head">
              <h2>Set up this workspace</h2>
              <span className="quiet">
                {current.filter(({ done }) => done).length} of {current.length} done
              </span>
            </div>
            <ol className="list">
              {current.map(({ step, done }) => (
                <Line key={step} step={step} isDone={done} />
              ))}
            </ol>
          </>
        )}
      </Loaded>
    </section>
  );
}

function Line({ step, isDone }: { step: SetupStep; isDone: boolean }) {
  const { title, why, page } = steps[step];
  if (isDone)
    return (
      <li>
        <IconCircleCheckFilled className="done-symbol" size={18} aria-hidden="true" />
        <span className="grow quiet">
          {title}
          <span className="hidden"> (done)</span>
        </span>
      </li>
    );
  return (
    <li>
      <IconCircleDashed className="todo-symbol" size={18} aria-hidden="true" />
      <div className="grow">
        {page === undefined ? <strong>{title}</strong> : <Link to={page}>{title}</Link>}
        <p className="quiet">{why}</p>
        {step === 'org' && <FoundOrg />}
      </div>
    </li>
  );
}
