import { IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react';
import { Button } from '@mantine/core';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { z } from 'zod';
import type { getBootstrap, SetupStep } from '@countersign/contracts/control-plane';
import { Loaded } from '../parts/loaded.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { sample, useStart } from '../runs/use-start.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { FoundOrg } from './found-org.tsx';

type Step = { title: string; why: string; page?: '/you' | '/members' | '/policy'; act?: string };
type Bootstrap = z.infer<typeof getBootstrap.reply>;

/** Another program may complete a step, so the steps are polled. */
const everyMs = 5_000;

const steps: Readonly<Record<SetupStep, Step>> = {
  org: { title: 'Name your organisation', why: 'It owns this workspace and every other workspace you make.' },
  budget: { title: 'Set a monthly budget', why: 'It comes with the organisation. Calls beyond it are denied.' },
  passkey: {
    title: 'Add a passkey',
    why: 'Your device signs what you approve. From then on, only a passkey approves calls here.',
    ...{ page: '/you', act: 'Add passkey' },
  },
  first_receipt: {
    title: 'See a first decision',
    why: 'The sample run asks to write a file, so it waits for you in the inbox.',
  },
  colleague: {
    title: 'Invite a colleague',
    why: 'Two people can approve what one person started.',
    ...{ page: '/members', act: 'Invite' },
  },
  policy: {
    title: 'Make the rules your own',
    why: 'Until then the starter policy decides. It allows reading and asks a person about what cannot be undone.',
    ...{ page: '/policy', act: 'Open policy' },
  },
};

/** The steps of the setup. Only owners may read them. */
export function useSetup(isOwner: boolean): UseQueryResult<Bootstrap> {
  const { id, client } = useWorkspace();
  return useQuery({
    queryKey: [id, 'setup'],
    queryFn: async ({ signal }) => (await client.getBootstrap({ signal })).body,
    enabled: isOwner,
    refetchInterval: ({ state: { data } }) => (data?.steps.every(({ done }) => done) === true ? false : everyMs),
  });
}

type Props = { setup: UseQueryResult<Bootstrap>; isShort: boolean };

/** The steps of the setup, with a button for the next one. `isShort`: only open steps are shown. */
export function Setup({ setup, isShort }: Props) {
  return (
    <section aria-label="Set up">
      <Loaded query={setup}>
        {({ steps: current }) => {
          const next = current.find(({ done }) => !done)?.step;
          return (
            <>
              <div className="section-head">
                <h2>Set up this workspace</h2>
                <span className="quiet" role="status">
                  {current.filter(({ done }) => done).length} of {current.length} done
                </span>
              </div>
              <ol className="list">
                {current
                  .filter(({ done }) => !isShort || !done)
                  .map(({ step, done }) => (
                    <Line key={step} step={step} isDone={done} isNext={step === next} />
                  ))}
              </ol>
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

type LineProps = { step: SetupStep; isDone: boolean; isNext: boolean };

function Line({ step, isDone, isNext }: LineProps) {
  const { title, why, page, act } = steps[step];
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
    <li {...(isNext && { 'aria-current': 'step' as const })}>
      <IconCircleDashed className="todo-symbol" size={18} aria-hidden="true" />
      <div className="grow">
        <strong>{title}</strong>
        <p className="quiet">{why}</p>
        {step === 'org' && <FoundOrg />}
      </div>
      {step === 'first_receipt' && <SampleRun isNext={isNext} />}
      {page !== undefined && (
        <Link to={page} className={isNext ? 'button button-primary' : 'button'}>
          {act}
        </Link>
      )}
    </li>
  );
}

/** Starts a task with one click. Its call waits for a person. */
function SampleRun({ isNext }: { isNext: boolean }) {
  const start = useStart();
  return (
    <>
      {start.error !== null && <ProblemNote error={start.error} />}
      <Button
        size="xs"
        variant={isNext ? 'filled' : 'default'}
        className="button"
        loading={start.isPending}
        onClick={() => start.mutate(sample)}
      >
        Start sample run
      </Button>
    </>
  );
}
